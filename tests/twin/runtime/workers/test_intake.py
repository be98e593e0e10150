"""A worker that lost its consumer is found by messages that stand while its processes are idle."""

import os
import socket

import pytest
from kombu import Connection

from twin.infra import processor
from twin.processes import heartbeat, intake
from twin.processes.intake import Intake

MAIN = f"{socket.gethostname()}/{os.getppid()}"


@pytest.fixture(autouse=True)
def _a_machine_with_time(monkeypatch):
    monkeypatch.setattr(processor, "overload", lambda: 1.0)


@pytest.fixture
def broker(layer, settings, tmp_path):
    """A connection to a real server; the pulses of this test are those of children of MAIN."""
    settings.VAR_DIR = tmp_path
    with Connection(layer.replace("unix://", "redis+socket://")) as connection:
        yield connection


def put(broker, name="runs"):
    with broker.clone() as connection:
        queue = connection.SimpleQueue(name)
        queue.put({})
        queue.close()


def child():
    pulse = heartbeat.Pulse(heartbeat.RUNS)
    pulse.beat()
    return pulse


def stands(watch):
    """Two checks, as if each came after a long time: the first sees what is idle."""
    watch.check()
    watch.stalled_s = intake.STALLED_S
    return watch.check()


def test_messages_that_stand_while_a_process_is_idle_are_a_fault(broker):
    watch = Intake(broker, MAIN, ["runs"])
    child()
    assert stands(watch) == "", "nothing waits"
    put(broker)
    put(broker)
    assert stands(watch).startswith(
        "has not taken any of the 2 waiting tasks, although 1 of its 1 processes are idle, for 6 s"
    )
    put(broker, "elsewhere")
    assert stands(Intake(broker, MAIN, ["io", "certificates"])) == "", "its own queues are empty"


def test_a_process_that_works_or_has_just_worked_is_not_idle(broker):
    watch = Intake(broker, MAIN, ["runs"])
    put(broker)
    pulse = child()
    with heartbeat.doing("run 1"):
        pulse.beat()
        assert stands(watch) == ""
    pulse.beat()
    watch.check()
    with heartbeat.doing("run 2"):
        pass
    pulse.beat()
    watch.stalled_s = intake.STALLED_S
    assert watch.check() == ""


def test_a_worker_without_a_process_is_a_fault(broker):
    watch = Intake(broker, MAIN, ["runs"])
    assert stands(watch).startswith("has had no responding process for 6 s")


def test_on_an_overloaded_machine_a_worker_has_proportionally_longer(broker, monkeypatch):
    monkeypatch.setattr(processor, "overload", lambda: 10.0)
    watch = Intake(broker, MAIN, ["runs"])
    assert stands(watch) == ""
    watch.stalled_s = 10 * intake.STALLED_S
    assert watch.check().startswith("has had no responding process for 6")


def test_the_overload_is_the_load_of_each_core(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(processor.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(processor.os, "getloadavg", lambda: (10.0, 99.0, 99.0))
    assert processor.overload() == 2.5
    monkeypatch.setattr(processor.os, "getloadavg", lambda: (3.0, 99.0, 99.0))
    assert processor.overload() == 1.0


def test_a_broker_that_is_away_is_no_fault_of_the_worker(settings):
    settings.LAYER_URL = "redis://127.0.0.1:1"
    assert stands(Intake(Connection("redis://127.0.0.1:1"), MAIN, ["runs"])) == ""
