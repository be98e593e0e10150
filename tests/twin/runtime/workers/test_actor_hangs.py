"""An acting process that is stopped is found and replaced, and one whose loop hangs says so."""

import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from tests.twin.acting.builders import MemoryCluster, NeverWaits, connection
from tests.twin.runtime import prepared
from tests.twin.runtime.process import ran
from tests.twin.runtime.stack import ROOT, wait_until
from twin.acting import actor as acting
from twin.processes import heartbeat

CONNECT = "from twin.models import Connection; Connection.objects.create(name='lab', connector='slurm')"


@pytest.mark.slow
def test_an_acting_process_that_is_stopped_is_replaced(layer, settings, tmp_path):
    prepared.fill(tmp_path)
    assert ran(tmp_path, CONNECT).returncode == 0
    settings.VAR_DIR = tmp_path
    env = os.environ | {"TWIN_VAR_DIR": str(tmp_path), "LAYER_URL": layer, "HUNG_S": "3"}
    env.pop("DATABASE_URL", None)
    with (tmp_path / "act.log").open("wb") as log:
        supervisor = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "act", "lab"], env=env, stdout=log, stderr=log
        )

    def acts() -> list[int]:
        return [int(one.name.rpartition("/")[2]) for one in heartbeat.processes() if one.kind == heartbeat.ACTOR]

    try:
        wait_until(acts, "it acts")
        (first,) = acts()
        assert psutil.Process(first).ppid() == supervisor.pid
        os.kill(first, signal.SIGSTOP)
        wait_until(lambda: acts() not in ([], [first]), "another one acts")
        assert (
            f"acting process (process {first}) has not answered for 3 s; it is replaced"
            in (tmp_path / "act.log").read_text()
        )
    finally:
        supervisor.send_signal(signal.SIGTERM)
        supervisor.wait(30)
    assert acts() == []


@pytest.mark.django_db(transaction=True)
def test_an_acting_process_whose_loop_hangs_reports_a_fault(monkeypatch):
    monkeypatch.setattr(acting, "STUCK_S", 0.2)
    stop, free = NeverWaits(), threading.Event()

    class Blocked(MemoryCluster):
        def account(self) -> str:
            free.wait()
            stop.wait = lambda timeout=None: True
            return "tester"

    one = acting.Actor(connection(), Blocked(), stop)
    thread = threading.Thread(target=_run, args=(one,))
    thread.start()
    try:
        wait_until(lambda: one.fault().startswith("has not processed plans of lab for"), "it is noticed", 30)
    finally:
        free.set()
        thread.join()


def _run(one: acting.Actor) -> None:
    from django.db import connection as database

    one.run()
    database.close()
