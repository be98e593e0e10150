"""A database that takes nothing for a while: it waits in the broker until it can be written; the run goes on."""

import sqlite3
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, connections
from django.utils import timezone

from tests.twin.runtime import prepared
from twin.infra import pubsub
from twin.models import AuditEntry, Run, Scenario
from twin.runs import commands, holds, runner
from twin.scenarios.store import store_generated


@pytest.fixture
def database(tmp_path, django_db_blocker, settings):
    """A database file of its own, whose locks are real; Django uses it during the test."""
    path = tmp_path / "twin.sqlite3"
    made = sqlite3.connect(path)
    prepared.copy_database(made)
    made.close()
    settings.DATABASE_LOCK_WAIT_S = 0.1
    options = {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"}
    usual, before = connections["default"], connections.settings["default"]
    connections.settings["default"] = {**before, "NAME": str(path), "OPTIONS": options}
    del connections["default"]
    try:
        with django_db_blocker.unblock():
            yield path
            connections["default"].close()
    finally:
        connections.settings["default"] = before
        connections["default"] = usual


def stored_run() -> Run:
    from scheduling.workloads import generate

    cluster, jobs = generate("oasis", num_jobs=10, num_servers=6, seed=3)
    spec, trace = store_generated("ten", cluster, jobs, 3)
    return Run.objects.create(
        scenario=Scenario.objects.create(name="t", cluster=spec, trace=trace, scheduler="fifo", seed=3)
    )


@pytest.mark.thorough
def test_a_locked_database_holds_the_run_up_until_it_takes_a_write(layer, database, monkeypatch):
    run = stored_run()
    monkeypatch.setattr("twin.infra.database.lock_wait_s", lambda: 12.3)
    locker = sqlite3.connect(database, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.message) == (Run.QUEUED, "")  # reading works, writing does not
    assert b"database is locked" in pubsub.client().hgetall(holds.NOTED)[str(run.pk).encode()]
    assert holds.write_noted() == []
    runner.advance(run.pk)  # it is asked for again, and held up by the same lock
    locker.execute("ROLLBACK")
    locker.close()
    assert holds.write_noted() == [run.pk]
    run.refresh_from_db()
    assert (run.status, run.wanted) == (Run.QUEUED, Run.RUNNING)
    assert run.message == (
        "waiting: the database does not accept its events (database is locked). No data are "
        "lost; the run resumes automatically."
    )
    assert pubsub.client().hgetall(holds.NOTED) == {}
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.held_since) == (Run.FINISHED, None)
    entry = AuditEntry.objects.get(action="run.held")
    assert entry.detail["reason"] == "the database does not accept its events (database is locked)"
    assert entry.detail["seconds"] >= 12.3, "it waited for the lock before it was held up"


def test_a_run_that_goes_on_before_its_hold_was_written_tells_it_once(layer, database):
    run = stored_run()
    locker = sqlite3.connect(database, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    runner.advance(run.pk)
    locker.execute("ROLLBACK")
    locker.close()
    runner.advance(run.pk)
    assert holds.write_noted() == []
    assert Run.objects.get(pk=run.pk).status == Run.FINISHED
    assert AuditEntry.objects.get(action="run.held").detail["reason"].endswith("(database is locked)")


def test_a_write_that_waited_long_for_a_lock_is_reported_and_the_clock_stood_still(layer, make_run, monkeypatch):
    """The lock went before the write failed: nothing was held, and yet the run stood."""
    monkeypatch.setattr(holds, "SHORT_S", 0.0)
    live, batch = make_run(mode=Run.LIVE), make_run()
    Run.objects.filter(pk=live.pk).update(clock_wall=timezone.now(), clock_speed=1.0)
    for run in (live, batch):
        runner.advance(run.pk)
        entry = AuditEntry.objects.filter(action="run.held", subject=f"run {run.pk}").first()
        assert "for one write because of a lock" in entry.detail["reason"]
    live.refresh_from_db()
    assert (live.status, live.held_since) == (Run.RUNNING, None)


@pytest.mark.thorough
def test_the_watch_tells_since_when_the_database_is_locked(layer, database):
    from twin.infra import database as infra
    from twin.processes import vitals

    watch = infra.LockWatch()
    watch.check()
    assert (infra.fault(), vitals.take().locked_since) == (None, None)
    locker = sqlite3.connect(database, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    watch.check()
    first = vitals.take().locked_since
    watch.check()
    assert "database is locked" in str(infra.fault())
    assert vitals.take().locked_since == first is not None
    locker.execute("ROLLBACK")
    locker.close()
    watch.check()
    assert (infra.fault(), vitals.take().locked_since) == (None, None)


@pytest.mark.parametrize(("begun", "word"), [(True, "resumed"), (False, "started")])
def test_a_live_run_that_was_held_up_goes_on_at_its_next_event(layer, make_run, begun, word):
    run = make_run(mode=Run.LIVE)
    Run.objects.filter(pk=run.pk).update(
        clock_sim_ms=0, clock_wall=timezone.now() - timedelta(hours=1), clock_speed=1000.0, status=Run.RUNNING,
        next_event_ms=0, held_since=timezone.now(), started_at=timezone.now() if begun else None,
    )  # fmt: skip
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.held_since) == (Run.RUNNING, None)
    assert run.message.startswith(f"{word} after ")
    assert run.sim_ms <= 1000 * 60_000, "an hour at this pace would be 3.6e9 ms"
    assert runner._clock(run).now_ms(timezone.now()) < 1000 * 600_000


def test_a_held_run_can_be_paused_and_cancelled(layer, make_run):
    run = make_run()
    holds.hold(run.pk, DatabaseError("database is locked"))
    commands.pause(run)
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.held_since, run.message) == (Run.PAUSED, None, "")
    assert AuditEntry.objects.filter(action="run.held", subject=f"run {run.pk}").count() == 1
    commands.cancel(run)
    assert (run.status, run.held_since, run.message) == (Run.CANCELLED, None, "")


def test_a_hold_takes_the_run_from_whoever_works_on_it(layer, make_run):
    from twin.eventlog.event_log import LeaseLost
    from twin.runs import lease

    run = lease.take(make_run().pk)
    holds.hold(run.pk, DatabaseError("disk full"))
    with pytest.raises(LeaseLost):
        lease.write(run, message="still here")
    assert connection.is_usable()
