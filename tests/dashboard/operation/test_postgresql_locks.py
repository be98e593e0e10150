"""Locks of PostgreSQL: what waits for one ends in time, says so, and goes on when it is released."""

from __future__ import annotations

import os

import environ
import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connections

from scheduling.workloads import generate
from twin.infra import database, pubsub
from twin.models import AuditEntry, Run, Scenario
from twin.processes import vitals
from twin.runs import holds, runner
from twin.scenarios.store import store_generated

pytestmark = [pytest.mark.slow, pytest.mark.services]
POSTGRES = "postgresql://postgres@127.0.0.1:5432"


@pytest.fixture
def postgres(django_db_blocker, settings, monkeypatch):
    """URL of a database with our tables, which Django uses during the test; its locks are waited for 0.2 s."""
    name = f"twin_locks_{os.getpid()}"
    try:
        admin = psycopg.connect(f"{POSTGRES}/postgres", autocommit=True, connect_timeout=2)
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at 5432 of this machine: {error}")
    settings.DATABASE_LOCK_WAIT_S = 0.2
    settings.MIGRATION_MODULES = {app.label: None for app in apps.get_app_configs()}
    monkeypatch.setattr(database, "WAIT_S", 0.2)
    url, usual, before = f"{POSTGRES}/{name}", connections["default"], connections.settings["default"]
    with admin:
        admin.execute(f"CREATE DATABASE {name}")
        connections.settings["default"] = before | environ.Env.db_url_config(url) | {"OPTIONS": {}}
        del connections["default"]
        try:
            with django_db_blocker.unblock():
                call_command("migrate", run_syncdb=True, verbosity=0)
                yield url
                connections["default"].close()
        finally:
            connections.settings["default"] = before
            connections["default"] = usual
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def locked(url: str, mode: str) -> psycopg.Connection:
    """A transaction that holds the table of runs until it ends."""
    locker = psycopg.connect(url)
    locker.execute(f"LOCK TABLE twin_run IN {mode} MODE")
    return locker


def test_a_run_is_held_and_resumes(layer, postgres):
    cluster, jobs = generate("oasis", num_jobs=10, num_servers=6, seed=3)
    spec, trace = store_generated("ten", cluster, jobs, 3)
    run = Run.objects.create(
        scenario=Scenario.objects.create(name="t", cluster=spec, trace=trace, scheduler="fifo", seed=3)
    )
    with locked(postgres, "SHARE ROW EXCLUSIVE"):
        runner.advance(run.pk)
        run.refresh_from_db()
        assert (run.status, run.message) == (Run.QUEUED, "")  # reading works, writing does not
        noted = pubsub.client().hget(holds.NOTED, str(run.pk))
        assert noted is not None
        assert "lock timeout" in noted.decode()
        assert holds.write_noted() == []
    assert holds.write_noted() == [run.pk]
    while run.status in Run.ACTIVE:
        runner.advance(run.pk)
        run.refresh_from_db()
    assert run.status == Run.FINISHED
    (entry,) = AuditEntry.objects.filter(action="run.held", subject=f"run {run.pk}")
    assert "lock timeout" in entry.detail["reason"]


def test_the_watch_and_healthz_tell_since_when_it_is_locked(layer, postgres, client):
    watch = database.LockWatch()
    watch.check()
    assert (watch.locked, database.fault()) == (False, None)
    with locked(postgres, "ACCESS EXCLUSIVE"):  # not even reading works
        watch.check()
        assert watch.locked
        assert vitals.take().locked_since is not None
        answer = client.get("/healthz")
        assert answer.status_code == 503
        assert answer.json()["database"] is False
        assert "lock timeout" in answer.json()["database_fault"]
        assert "locked since" in answer.json()["database_fault"]
    watch.check()
    assert (watch.locked, vitals.take().locked_since) == (False, None)


def test_each_connection_has_the_limit_and_keeps_it_after_a_check(layer, postgres):
    with connections["default"].cursor() as cursor:
        for _ in range(2):
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("200ms",)
            database.WAIT_S = 1.0
            assert database.fault() is None
