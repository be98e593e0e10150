"""Retention in the browser's API: what is kept, the next clean-up, and its start by an admin."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.dashboard.builders import post
from tests.twin.runtime.queues import messages
from twin import tasks
from twin.models import AuditEntry, EventBatch, Run, Scenario, Trace
from twin.operation import cleanup_task, retention
from twin.processes import bounded_process
from twin.studies import demo

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def limits(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    for name in ("RUNS_DAYS", "HISTORY_DAYS", "LOGS_GB", "UPLOADS_DAYS", "FORECASTS_DAYS"):
        setattr(settings, f"KEEP_{name}", 0.0)


def kind(answer, title):
    return next(row for row in answer["kinds"] if row["title"] == title)


def test_kinds_of_data_state_their_number_size_age_and_limit(admin, finished_run, settings):
    settings.KEEP_RUNS_DAYS, settings.KEEP_LOGS_GB = 30.0, 5.0
    Trace.objects.create(
        name="u", status=Trace.SCANNED, files=[{"name": "a", "size": 9, "received": 7, "path": ""}] * 2
    )
    found = admin.get("/api/retention/").json()
    runs = kind(found, "simulated runs")
    size = retention.sizes([finished_run.pk])[finished_run.pk]
    assert size >= sum(len(bytes(batch.payload)) for batch in EventBatch.objects.all()) > 0
    assert (runs["rows"], runs["size"], runs["stays"]) == (1, size, "30 days after their end; all logs: at most 5 GB")
    assert runs["oldest"][:10] == str(timezone.now().date())
    uploads = kind(found, "uploads without an import")
    assert (uploads["rows"], uploads["size"], uploads["stays"]) == (1, 14, "without limit")
    assert kind(found, "forecasts") == {
        "title": "forecasts", "rows": 0, "size": None, "oldest": None,
        "stays": "28 days; of clusters that are no longer followed: without limit",
        "settings": ["KEEP_FORECASTS_DAYS"],
    }  # fmt: skip
    assert kind(found, "ended alerts")["stays"] == "90 days"
    settings.KEEP_FORECASTS_DAYS = 14.0
    kept = {row["title"]: row["stays"] for row in admin.get("/api/retention/").json()["kinds"]}
    assert kept["forecasts"] == "14 days"  # the fixed limit is longer
    assert kept["scores of forecasts"] == "7 days; of clusters that are no longer followed: 14 days"
    Scenario.objects.update(name=demo.NAME)
    runs = kind(admin.get("/api/retention/").json(), "simulated runs")
    assert runs["stays"].endswith("at most 5 GB; of the demo: the newest 3 that have ended")
    assert found["disk_free"] > 0
    assert "database_size" in found
    assert found["last"] is None


def test_the_next_clean_up_is_shown_and_then_done_as_shown(admin, finished_run, settings, monkeypatch):
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: work() or "done")
    settings.KEEP_RUNS_DAYS = 30.0
    Run.objects.update(finished_at=timezone.now() - 31 * DAY)
    size = retention.sizes([finished_run.pk])[finished_run.pk]
    [row] = [row for row in admin.get("/api/retention/").json()["due"] if row["rows"]]
    assert row == {
        "rule": "runs", "setting": "KEEP_RUNS_DAYS", "rows": 1, "size": size, "numbers": [finished_run.pk],
    }  # fmt: skip
    assert Run.objects.exists(), "looking removes nothing"
    messages("io")
    answer = post(admin, "/api/retention/", {})
    assert (answer.status_code, answer.json()["last"]) == (202, None)
    assert Run.objects.exists(), "a worker does it"
    cleanup_task.Requests().refresh()
    asked = messages("io")
    assert asked == [("twin.tasks.apply_retention", 0)]
    tasks.apply_retention(asked[0][1])
    assert not Run.objects.exists()
    found = admin.get("/api/retention/").json()
    assert {**found["last"], "at": ""} == {"at": "", "user": "ada", "removed": {"runs": 1}, "error": ""}
    assert [row for row in found["due"] if row["rows"]] == []
    entries = AuditEntry.objects.filter(action__startswith="retention.").order_by("pk")
    assert [(one.action, one.user) for one in entries] == [
        ("retention.request", admin.user), ("retention.run", admin.user),
    ]  # fmt: skip
