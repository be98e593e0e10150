"""A follower whose thread hangs is found, and another one can take its cluster over."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from tests.twin.mirror.builders import Scripted
from tests.twin.mirror.builders_stored import POLLS
from tests.twin.runtime.stack import wait_until
from twin.connectors.facts import Snapshot
from twin.mirror import follower
from twin.models import Connection, Run
from twin.processes import heartbeat, progress
from twin.runs import lease


class Blocked(Scripted):
    """A cluster whose first snapshot is complete; the next one blocks until `free` is set."""

    def __init__(self) -> None:
        super().__init__(*POLLS)
        self.polls, self.blocks, self.free = 0, threading.Event(), threading.Event()

    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        self.polls += 1
        if self.polls > 2:  # the first two begin the run
            self.blocks.set()
            self.free.wait()
        return super().snapshot(nodes=nodes)


@pytest.fixture
def blocked(monkeypatch, transactional_db):
    """(follower, its cluster), of which the thread hangs in a poll."""
    cluster, stop = Blocked(), threading.Event()
    monkeypatch.setattr(follower, "build", lambda *_: cluster)
    monkeypatch.setattr(follower, "STUCK_S", 0.5)
    monkeypatch.setattr(lease, "LEASE", timedelta(seconds=1))
    monkeypatch.setattr(lease, "RENEW_S", 0.1)
    Connection.objects.create(name="lab", connector="slurm", interval_ms=200)
    one = follower.Follower(stop)
    one.refresh()
    (thread,) = one.threads.values()
    assert cluster.blocks.wait(30)
    yield one, cluster
    stop.set()
    cluster.free.set()
    thread.join()


def test_a_thread_that_hangs_is_a_fault_of_its_process(blocked, heartbeats):
    one, cluster = blocked
    pulse = heartbeat.Pulse(heartbeat.FOLLOWER, lambda: (one.progress.note(), one.fault())[1])
    wait_until(lambda: "has not followed lab for" in pulse.fault(), "it is noticed", 30)
    pulse.beat()
    (known,) = [process for process in heartbeat.processes() if process.kind == heartbeat.FOLLOWER]
    assert not known.answers
    assert "has not followed lab for" in known.trouble
    assert "has not followed lab for" in pulse.file.read_text(), "its supervisor replaces it"
    cluster.free.set()
    wait_until(lambda: not pulse.fault(), "a thread that goes on is no fault", 30)


def test_another_follower_takes_over_from_a_thread_that_hangs(blocked):
    run = Run.objects.get(mode=Run.MIRROR)
    wait_until(lambda: lease.take(run.pk, simulated=False) is not None, "its lease ends", 30)


def test_a_call_with_a_time_limit_of_its_own_is_progress(monkeypatch):
    loop = progress.Progress("followed lab", 60.0)
    threading.Thread(target=lambda: (loop.own(), progress.calls(120.0))).start()
    wait_until(lambda: loop.noted[1] == 120.0, "the call is noted", 30)
    at = loop.noted[0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: at + 179)
    assert loop.fault() == ""
    monkeypatch.setattr(progress.time, "monotonic", lambda: at + 181)
    assert loop.fault() == "has not followed lab for 181 s"
    progress.calls(10)  # of a thread without a loop: nothing
