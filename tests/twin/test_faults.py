"""Real processes, killed in the middle of a run: the log afterwards is, to the byte, that of an undisturbed run."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.twin.builders_stack import START, completes, row
from twin.infra import broker

from .runtime.stack import ROOT, Stack, free_port, is_alive, wait_until

pytestmark = pytest.mark.slow

LOCK_WAIT_S = 1.0
HUNG_S = 4.0


@pytest.fixture(scope="module")
def stack():
    with tempfile.TemporaryDirectory(prefix="twin-faults-") as folder:
        twin = Stack(Path(folder), DATABASE_LOCK_WAIT_S=str(LOCK_WAIT_S), HUNG_S=str(HUNG_S)).up()
        yield twin
        twin.down()


def begun(stack: Stack) -> int:
    """A run that is in the middle of its work."""
    run = int(stack.manage(START))
    wait_until(lambda: row(stack, run)["last_seq"] > 200, "the run has begun")
    assert row(stack, run)["status"] in ("queued", "running")
    assert row(stack, run)["last_seq"] < 5_000  # of 6,525
    return run


def test_a_killed_pool_child(stack):
    run = begun(stack)
    wait_until(lambda: row(stack, run)["lease_owner"], "a child holds the lease")
    owner = int(str(row(stack, run)["lease_owner"] or "/0.0").split("/")[1].split(".")[0])
    for child in stack.workers()[1]:
        if child.pid == owner or owner == 0:
            child.kill()
    completes(stack, run)


def test_a_killed_worker(stack):
    run = begun(stack)
    main, children = stack.workers()
    main.kill()
    wait_until(lambda: not any(child.is_running() for child in children), "its pool children are gone with it")
    completes(stack, run)


def test_a_killed_broker(stack):
    run = begun(stack)
    stack.processes("valkey-server")[0].kill()
    completes(stack, run)


def test_a_killed_web_server(stack):
    run = begun(stack)
    stack.processes("uvicorn")[0].kill()
    wait_until(lambda: not stack.healthy(), "the web server is away")
    completes(stack, run)
    wait_until(stack.healthy, "the web server is back")


@pytest.mark.parametrize("name", ["worker for runs", "dispatcher of the worker for runs", "ticker", "broker", "web"])
def test_a_process_that_hangs_is_noticed_and_replaced(stack, name):
    """Stopped in the middle of a run, as a machine that swaps or a file system that is away would do it."""
    run = begun(stack)
    main, children = stack.workers()
    hung = {
        "worker for runs": children[0],
        "dispatcher of the worker for runs": main,
        "ticker": stack.processes("manage.py ticker")[0],
        "broker": stack.processes("valkey-server")[0],
        "web": stack.processes("uvicorn")[0],
    }[name]
    hung.suspend()
    wait_until(lambda: not is_alive(hung), f"the {name} that hangs is killed")
    message = (
        f"{name} has not answered for" if name == "broker" else f"{name} (process {hung.pid}) has not answered for"
    )
    wait_until(lambda: message in stack.output(), "the replacement is reported")
    completes(stack, run)
    wait_until(stack.healthy, "all is well again")


def test_a_locked_database_holds_the_run_up_and_it_goes_on_by_itself(stack):
    run = begun(stack)
    locker = sqlite3.connect(stack.folder / "twin.sqlite3", timeout=30, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    worker_log = stack.folder / "logs" / "worker.log"
    try:
        wait_until(
            lambda: f"run {run} waits: database is locked" in worker_log.read_text(), "the worker meets the lock"
        )
    finally:  # the tests after this one use the same database
        locker.execute("ROLLBACK")
        locker.close()
    completes(stack, run)
    held = stack.sql("select detail from twin_auditentry where action = 'run.held' and subject = ?", f"run {run}")
    assert "database is locked" in held[0][0]


STORED_AND_FOLDED = """
from itertools import chain
from twin.eventlog import event_log, fold, state_codec
from twin.models import FoldedState
stored = state_codec.decode(FoldedState.objects.get(run_id={run}).payload)
folded = fold.RunState().feed(chain.from_iterable(event_log.after({run}, 0)))
(meta, columns), (others, theirs) = fold.snapshot(stored), fold.snapshot(folded)
print(meta == others and all((columns[name] == theirs[name]).all() for name in columns))
"""


def test_a_worker_stores_the_states_of_all_runs_that_have_ended(stack):
    """Also of those whose processes were killed in the tests before."""
    run = begun(stack)
    wait_until(lambda: row(stack, run)["status"] == "finished", "the run ends")
    behind = "select count(*) from twin_run left join twin_foldedstate on run_id = id where last_seq > coalesce(seq, 0)"
    wait_until(lambda: stack.sql(behind) == [(0,)], "all states are stored")
    assert stack.manage(STORED_AND_FOLDED.format(run=run)).strip() == "True"


def test_a_second_up_in_the_same_folder_says_so(stack):
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(stack.port + 1)]
    second = subprocess.run(command, env=stack.env, capture_output=True, text=True, timeout=60)
    assert second.returncode != 0
    assert f"the twin is already running on {stack.folder} (process {stack.process.pid})" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_port_in_use_is_answered_with_a_free_one(stack, tmp_path):
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(stack.port)]
    other = subprocess.run(
        command, env=stack.env | {"TWIN_VAR_DIR": str(tmp_path)}, capture_output=True, text=True, timeout=60
    )
    assert other.returncode != 0
    assert f"127.0.0.1:{stack.port} cannot be used" in other.stderr
    assert "is free: --port" in other.stderr


def test_of_two_that_are_started_together_on_one_port_one_says_that_it_is_taken(tmp_path):
    port = free_port()
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(port)]
    twins = []
    for name in ("one", "two"):
        twin = Stack(tmp_path / name, fresh=True)
        twin.folder.mkdir()
        twin.process = subprocess.Popen(
            command, env=twin.env, stdout=(tmp_path / name / "up.log").open("w"), stderr=subprocess.STDOUT, text=True
        )
        twins.append(twin)
    try:
        wait_until(lambda: any(twin.process.poll() is not None for twin in twins), "one of them gives up")
        loser, winner = sorted(twins, key=lambda twin: twin.process.poll() is None)
        assert loser.process.returncode != 0
        assert f"127.0.0.1:{port} cannot be used" in loser.output()
        assert len(loser.output().splitlines()) == 1
        wait_until(lambda: "Press Ctrl-C to stop" in winner.output(), "the other one is up")
        assert loser.processes() == []
    finally:
        for twin in twins:
            twin.down()
    assert not broker.socket_path(winner.folder).exists()
    assert "ended" not in winner.output()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_holds_the_run_up_and_everybody_is_informed(small_disk):
    twin = Stack(small_disk).up()
    try:
        run = begun(twin)
        filler = small_disk / "filler"
        fill(filler)
        wait_until(lambda: row(twin, run)["message"], "the hold is written by means of the reserve", 10)
        assert f"waiting: the disk of {small_disk} is full" in str(row(twin, run)["message"])
        fill(filler)
        with pytest.raises(urllib.error.HTTPError) as unwell:
            urllib.request.urlopen(f"{twin.url}/healthz", timeout=5)
        assert json.load(unwell.value)["disk"] == f"the disk of {small_disk} is full"
        twin.processes("valkey-server")[0].kill()
        wait_until(lambda: twin.processes("valkey-server"), "the broker is back though nothing can be written", 20)
        filler.unlink()
        wait_until(twin.healthy, "all is well again", 20)
        completes(twin, run)
        assert f"the disk of {small_disk} is full; runs wait until space is free" in twin.output()
        assert f"the disk of {small_disk} has free space again; runs resume" in twin.output()
        assert "worker ended" not in twin.output()
    finally:
        twin.down()
    fill(filler)
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(twin.port)]
    again = subprocess.run(command, env=twin.env, capture_output=True, text=True, timeout=60, check=False)
    assert (again.returncode, again.stderr) == (
        1,
        f"CommandError: the disk of {small_disk} is full; free disk space first\n",
    )


def fill(path: Path) -> None:
    """Writes until the disk is full."""
    with path.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def test_a_killed_supervisor_leaves_no_process_and_the_next_start_completes_the_run(stack):
    """The last test of the module: it ends the stack that the others share and starts it again."""
    run = begun(stack)
    stack.process.kill()
    stack.process.wait()
    wait_until(lambda: not stack.processes(), "every process of the stack is gone")
    (stack.folder / "up.log").write_text("")
    stack.up()
    completes(stack, run)


def test_ctrl_c_leaves_no_process(stack):
    stack.process.send_signal(signal.SIGINT)
    assert stack.process.wait(30) == 0
    assert stack.processes() == []
    folder = broker.socket_path(stack.folder).parent  # which makes it
    folder.rmdir()
