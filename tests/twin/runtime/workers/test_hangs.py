"""Processes that hang are found by the age of their pulse, and ended."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.twin.runtime.stack import wait_until
from twin.infra import processor
from twin.processes import hang_detection, heartbeat

BEAT = """
import pathlib, sys, time
while True:
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(0.02)
"""


@pytest.fixture(autouse=True)
def _a_machine_with_time(monkeypatch):
    monkeypatch.setattr(processor, "overload", lambda: 1.0)


@pytest.fixture
def beating(tmp_path):
    file = tmp_path / "x"
    process = subprocess.Popen([sys.executable, "-c", BEAT, str(file)])
    wait_until(file.exists, "it beats")
    yield process, file
    process.kill()
    process.wait()


def test_a_process_that_is_stopped_is_killed_and_one_that_goes_on_is_not(tmp_path, beating, settings):
    process, file = beating
    folder, reports = tmp_path / "pulse", []
    folder.mkdir()
    watch = hang_detection.Hangs(folder, reports.append)
    own = folder / f"worker-for-runs.{process.pid}"
    own.symlink_to(file)
    settings.HUNG_S = 0.5
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        assert watch.check() == []
    process.send_signal(signal.SIGSTOP)
    wait_until(watch.check, "it is killed", 10)
    assert process.wait(10) == -signal.SIGKILL
    assert reports == [f"worker for runs (process {process.pid}) has not answered for 0.5 s; it is replaced"]
    assert watch.check() == []
    assert not own.exists()


def test_a_supervisor_that_was_held_up_blames_nobody(tmp_path):
    watch = hang_detection.Hangs(tmp_path, print)
    (tmp_path / f"ticker.{os.getpid()}").touch()
    watch.check()
    watch.checked_at -= 3600
    assert watch.check() == []


def test_a_pulse_comes_and_goes(layer, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    mine = heartbeat.Pulse(heartbeat.TICKER).start()
    with heartbeat.doing("something"):
        wait_until(lambda: [p.doing for p in heartbeat.processes()] == ["something"], "it says what it does")
    assert mine.file.exists()
    mine.stop()
    assert heartbeat.processes() == []
    assert not mine.file.exists()


def test_a_process_that_does_not_do_its_work_says_why_and_is_killed_at_once(layer, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    process, reports = subprocess.Popen(["sleep", "600"]), []
    watch = hang_detection.Hangs(heartbeat.folder(), reports.append)
    faulty = heartbeat.Pulse(heartbeat.TICKER, lambda: "has not processed runs for 61 s")
    faulty.file = faulty.file.with_name(f"ticker.{process.pid}")
    for supervised, remedy in ((False, "restart it"), (True, "it is replaced")):
        settings.SUPERVISED = supervised
        faulty.beat()
        (known,) = heartbeat.processes()
        assert not known.answers
        assert known.trouble == f"the ticker (process {os.getpid()}) has not processed runs for 61 s; {remedy}"
    assert watch.check() == [process.pid]
    assert process.wait(10) == -signal.SIGKILL
    assert reports == [f"ticker (process {process.pid}) has not processed runs for 61 s; it is replaced"]


def test_a_process_that_never_gave_a_sign_of_life_is_killed(tmp_path):
    process, reports = subprocess.Popen(["sleep", "600"]), []
    watch = hang_detection.Hangs(tmp_path, reports.append)
    assert watch.check({process.pid: ("worker", time.monotonic())}) == []
    assert watch.check({process.pid: ("worker", time.monotonic() - 61)}) == [process.pid]
    assert process.wait(10) == -signal.SIGKILL
    assert reports == [f"worker (process {process.pid}) did not start within 60 s; it is replaced"]


def test_a_process_that_is_slow_to_start_gets_twice_the_time_at_each_start(tmp_path):
    """On a machine where a start takes 100 s, each process was ended after 60 s for ever."""
    processes, reports = [subprocess.Popen(["sleep", "600"]) for _ in range(3)], []
    first, second, third = (process.pid for process in processes)
    watch = hang_detection.Hangs(tmp_path, reports.append)
    try:
        assert watch.check({first: ("long", time.monotonic() - 61)}) == [first]
        assert watch.check({second: ("long", time.monotonic() - 100)}) == []
        assert watch.check({second: ("long", time.monotonic() - 121)}) == [second]
        assert reports[1] == f"long (process {second}) did not start within 120 s; it is replaced"
        (tmp_path / f"long.{third}").touch()
        assert watch.check({third: ("long", time.monotonic() - 500)}) == []
        assert watch.begin_s == {}, "once it has started, the limit is the first one again"
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_on_an_overloaded_machine_a_start_may_take_proportionally_longer(tmp_path, monkeypatch):
    monkeypatch.setattr(processor, "overload", lambda: 10.0)
    process, reports = subprocess.Popen(["sleep", "6000"]), []
    watch = hang_detection.Hangs(tmp_path, reports.append)
    assert watch.check({process.pid: ("worker", time.monotonic() - 590)}) == []
    assert watch.check({process.pid: ("worker", time.monotonic() - 610)}) == [process.pid]
    assert process.wait(10) == -signal.SIGKILL
    assert reports == [f"worker (process {process.pid}) did not start within 600 s; it is replaced"]


def test_a_broker_that_is_stopped_hangs(monkeypatch, settings, tmp_path):
    from twin.infra import broker

    settings.HUNG_S = 0.5
    monkeypatch.setattr(hang_detection, "PROBE_S", 0.1)
    path = tmp_path / "b.sock"
    server = subprocess.Popen(broker.command(broker.find_server(), path, tmp_path), stdout=subprocess.DEVNULL)
    try:
        broker.wait(f"unix://{path}")
        probe = hang_detection.BrokerProbe(f"unix://{path}")
        assert not probe.hangs()
        server.send_signal(signal.SIGSTOP)
        wait_until(probe.hangs, "it is noticed", 10)
        assert not probe.hangs(), "the count restarts after the server was replaced"
        probe.over.set()
    finally:
        server.kill()
        server.wait()
