"""A follower that is killed at the border, as a process with a database of its own: the old run goes on, once."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.twin.runtime import prepared
from tests.twin.runtime.process import ran

pytestmark = pytest.mark.slow
SETUP = """
from tests.twin.mirror.whatif.builders_forty import mirrored_run
print(mirrored_run().pk)
"""
CROSS = """
import json, os, signal
from twin.eventlog import event_log
from twin.eventlog.additions import of_run
from twin.mirror import borders, stored
from twin.models import Connection, Run
from twin.runs import lease

def kill(*_): os.kill(os.getpid(), signal.SIGKILL)

def kill_after_closing(*given):
    close(*given)
    kill()

close = borders._close
if {where!r} == "before the old run is closed": borders._close = kill
if {where!r} == "after the old run is closed": borders._close = kill_after_closing
connection = Connection.objects.get()
found = [run.status for run in Run.objects.order_by("pk")]
Run.objects.update(lease_until=None)
new = borders.cross(connection, lease.take(connection.run.pk, simulated=False), stored.load(connection))
codes = [e.data["code"] for batch in event_log.after(new.follows.pk, 0) for e in batch if e.kind == "decided"]
outcome = {{"found": found, "jobs": [job.id for job in of_run(new)[1]], "continues": codes.count("continues")}}
print(json.dumps(outcome | {{"status": [run.status for run in Run.objects.order_by("pk")]}}))
"""


@pytest.mark.parametrize("where", ["before the old run is closed", "after the old run is closed"])
def test_a_follower_that_is_killed_at_the_border_loses_and_doubles_nothing(tmp_path: Path, where: str) -> None:
    prepared.fill(tmp_path)
    made = ran(tmp_path, SETUP)
    assert made.returncode == 0, made.stderr
    killed = ran(tmp_path, CROSS.format(where=where))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    after = ran(tmp_path, CROSS.format(where=""))
    assert after.returncode == 0, after.stderr
    assert json.loads(after.stdout.splitlines()[-1]) == {
        "found": ["running"],  # only the old run, as if nothing had been begun
        "jobs": ["2", "3", "4"],
        "continues": 3,
        "status": ["finished", "running"],
    }
