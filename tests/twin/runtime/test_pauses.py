"""A database that takes nothing for a while: the pause waits in the broker until it can be written."""

import sqlite3

import pytest
from django.db import DatabaseError, connection, connections

from twin import bus, pauses, runner
from twin.models import Run, Scenario
from twin.scenarios import store_generated


@pytest.fixture
def database(tmp_path, django_db_blocker):
    """A database file of its own, whose locks are real; Django uses it during the test."""
    from django.core.management import call_command

    options = {"transaction_mode": "IMMEDIATE", "timeout": 0.1, "init_command": "PRAGMA journal_mode=WAL"}
    usual, before = connections["default"], connections.settings["default"]
    connections.settings["default"] = {**before, "NAME": str(tmp_path / "twin.sqlite3"), "OPTIONS": options}
    del connections["default"]
    try:
        with django_db_blocker.unblock():
            call_command("migrate", verbosity=0)
            yield tmp_path / "twin.sqlite3"
            connections["default"].close()
    finally:
        connections.settings["default"] = before
        connections["default"] = usual


def stored_run() -> Run:
    from scheduling.workloads import generate

    cluster, jobs = generate("oasis", num_jobs=10, num_servers=6, seed=3)
    spec, trace = store_generated("ten", cluster, jobs, 3)
    return Run.objects.create(scenario=Scenario.objects.create(name="t", cluster=spec, trace=trace, scheduler="fifo", seed=3))


def test_a_locked_database_pauses_the_run_as_soon_as_it_takes_a_write(layer, database):
    run = stored_run()
    locker = sqlite3.connect(database, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    runner.advance(run.pk)
    run.refresh_from_db()
    assert run.status == Run.QUEUED  # reading works, writing does not
    assert b"database is locked" in bus.client().hgetall(pauses.NOTED)[str(run.pk).encode()]
    assert pauses.write_noted() == []
    locker.execute("ROLLBACK")
    locker.close()
    assert pauses.write_noted() == [run.pk]
    run.refresh_from_db()
    assert (run.status, run.wanted) == (Run.PAUSED, Run.PAUSED)
    assert run.message == (
        "paused: the database does not take its events (database is locked). Nothing is lost; resume when it is well again."
    )
    assert bus.client().hgetall(pauses.NOTED) == {}


def test_a_pause_takes_the_run_from_whoever_works_on_it(layer, make_run):
    from twin import lease
    from twin.eventlog import LeaseLost

    run = lease.take(make_run().pk)
    pauses.hold(run.pk, DatabaseError("disk full"))
    with pytest.raises(LeaseLost):
        lease.write(run, message="still here")
    assert connection.is_usable()
