"""Growth: the overview and the doctor say when SQLite has reached a limit, and what to do."""

from __future__ import annotations

import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from tests.dashboard.conftest import person
from twin.infra import database
from twin.operation import checks, growth

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="the limits are those of SQLite"),
]


def seen(*names: str, role: str = "operator", ago: timedelta = timedelta(0)) -> None:
    for name in names:
        get_user_model().objects.filter(pk=person(name, role).user.pk).update(last_login=timezone.now() - ago)


def test_the_overview_counts_people_who_change_things(operator, viewer):
    seen(*(f"o{i}" for i in range(growth.MAX_OPERATORS - 1)))
    seen("long ago", ago=timedelta(days=31))
    seen("looks", role="viewer")
    assert growth.limit() == "", "20 operators, with olga"
    assert b'id="growth"' not in operator.get("/").content
    seen("a", role="admin")
    page = operator.get("/").content.decode()
    assert (
        "The database has reached a limit: 21 operators in 30 days; SQLite is meant for at most 20. Remedy: move the "
        "data to PostgreSQL with manage.py backup and restore (docs/operation.md)."
    ) in page
    assert b'id="growth"' not in viewer.get("/").content, "who cannot do anything about it is not told"
    found = checks.database_writes()
    assert (found.level, found.remedy) == (checks.WARNING, growth.REMEDY)
    assert "21 operators in 30 days" in found.text


def test_a_wait_is_known_after_a_minute_and_beyond_its_limit_a_notice(layer, monkeypatch):
    slow = [0.0]
    clock = [100.0]

    def write() -> None:
        clock[0] += slow[0]

    monkeypatch.setattr(database, "fault", write)
    monkeypatch.setattr(database, "time", SimpleNamespace(time=time.time, monotonic=lambda: clock[0]))
    watch = database.LockWatch()
    for _ in range(database.WAITS.start - 1):
        watch.check()
    assert database.write_wait_s() is None
    watch.check()
    assert (database.write_wait_s(), growth.limit()) == (0.0, "")
    slow[0] = 0.3
    for _ in range(3):
        watch.check()
    assert growth.limit() == "", "three of 63 writes are fewer than a twentieth"
    watch.check()
    assert growth.limit() == "a write takes 0.30 s; SQLite is meant for at most 0.25 s"


def test_another_database_has_no_such_limit(monkeypatch):
    monkeypatch.setattr(growth.database, "write_wait_s", lambda: 9.0)
    assert growth.limit() != ""
    monkeypatch.setattr(growth.connection, "vendor", "postgresql", raising=False)
    assert growth.limit() == ""
