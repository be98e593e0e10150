"""Retention: what is due by age and by size, what stays in any case, and the dry run."""

import io
import time
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.twin.builders import played_out, scenario_of
from twin import tasks
from twin import ticker as ticking
from twin.models import AuditEntry, Connection, EventBatch, Forecast, Run, Score, TaskLease, Trace
from twin.operation import cleanup_task, retention
from twin.processes import bounded_process, exclusive, requests
from twin.runs import commands, readers

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def nothing_kept(settings, layer, tmp_path):
    settings.UPLOAD_DIR = tmp_path
    for name in ("RUNS_DAYS", "HISTORY_DAYS", "LOGS_GB", "UPLOADS_DAYS", "FORECASTS_DAYS"):
        setattr(settings, f"KEEP_{name}", 0.0)


def ended(age, **fields):
    """A run that ended so long ago."""
    run = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - age, **fields)
    return run.pk


def told(*words):
    out = io.StringIO()
    call_command("prune", *words, stdout=out)
    return out.getvalue().splitlines()


def test_without_settings_only_expired_sessions_go():
    run = ended(4000 * DAY)
    for key, age in (("old", -DAY), ("new", DAY)):
        Session.objects.create(session_key=key, session_data="", expire_date=timezone.now() + age)
    assert told() == ["expired sessions: 1 removed"]
    assert list(Session.objects.values_list("pk", flat=True)) == ["new"]
    assert Run.objects.filter(pk=run).exists()
    assert told() == ["nothing to remove"]


def test_runs_go_by_their_age_and_what_is_in_use_stays(settings):
    settings.KEEP_RUNS_DAYS = 30.0
    old, young, read, forked = ended(31 * DAY), ended(29 * DAY), ended(31 * DAY), ended(31 * DAY)
    mirrored = ended(31 * DAY, mode=Run.MIRROR)
    readers.mark(read)
    fork = commands.fork_and_start(forked, 1, "", [], True)[1]
    assert fork.status in Run.ACTIVE
    dry = told("--dry-run")
    assert dry[0].startswith("runs (KEEP_RUNS_DAYS): 1 would be removed, 0.")
    assert dry[0].endswith(f" MiB: {old}")
    assert Run.objects.filter(pk=old).exists()
    assert told()[0] == f"runs (KEEP_RUNS_DAYS): 1 removed: {old}"
    assert set(Run.objects.values_list("pk", flat=True)) == {young, read, forked, mirrored, fork.pk}
    assert not EventBatch.objects.filter(run_id=old).exists()
    entry = AuditEntry.objects.get(action="run.delete")
    assert (entry.subject, entry.user, entry.detail["reason"]) == (f"run {old}", None, "retention")


def test_histories_of_clusters_go_by_their_own_setting(settings):
    settings.KEEP_HISTORY_DAYS = 30.0
    old, followed = ended(31 * DAY, mode=Run.MIRROR), ended(31 * DAY, mode=Run.MIRROR)
    simulated = ended(31 * DAY)
    Connection.objects.create(name="lab", connector="push", run_id=followed)
    assert told() == [f"runs of live clusters (KEEP_HISTORY_DAYS): 1 removed: {old}"]
    assert set(Run.objects.values_list("pk", flat=True)) == {followed, simulated}


def test_the_oldest_runs_go_until_all_logs_fit(settings):
    runs = [ended(age * DAY) for age in (2, 3, 1)]
    size = retention.sizes(runs)
    assert all(size[run] == sum(len(bytes(batch.payload)) for batch in Run.objects.get(pk=run).batches.all())
               + sum(len(bytes(state.payload)) for state in Run.objects.get(pk=run).checkpoints.all()) > 1_000
               for run in runs)  # fmt: skip
    settings.KEEP_LOGS_GB = (sum(size.values()) - 1) / 2**30  # one byte too many
    assert told()[0].endswith(f": 1 removed: {runs[1]}")
    settings.KEEP_LOGS_GB = (size[runs[2]]) / 2**30
    assert told()[0].endswith(f": 1 removed: {runs[0]}")
    assert told() == ["nothing to remove"]
    assert list(Run.objects.values_list("pk", flat=True)) == [runs[2]]


def test_a_dry_run_counts_each_run_once_where_two_limits_apply(settings):
    old, young = ended(31 * DAY), ended(DAY)
    sizes = retention.sizes([old, young])
    settings.KEEP_RUNS_DAYS = 30.0
    settings.KEEP_LOGS_GB = sizes[young] / 2**30  # fits once the old run is gone
    found = retention.due(retention.now())
    assert [(row.rule, list(row.subjects)) for row in found if row.subjects] == [("runs", [old])]
    assert [(row.rule, list(row.subjects)) for row in retention.apply(retention.now())] == [("runs", [old])]


def uploaded(folder, status, age):
    """An upload that was last changed so many days ago, with its file."""
    path = f"{status}-{age}"
    (folder / path).write_text("x")
    trace = Trace.objects.create(name=path, status=status, files=[{"name": "a", "path": path}])
    Trace.objects.filter(pk=trace.pk).update(touched_at=timezone.now() - age * DAY)
    return trace.pk


def test_uploads_stay_as_long_as_the_setting_says(settings, tmp_path):
    """Also incomplete ones and those that wait for a selection."""
    settings.KEEP_UPLOADS_DAYS = 30.0
    old = []
    for status in (Trace.UPLOADING, Trace.SCANNED):
        uploaded(tmp_path, status, 29)
        old.append(str(uploaded(tmp_path, status, 31)))
    ticking.Ticker()._slowly()
    assert told() == [f"uploads without an import (KEEP_UPLOADS_DAYS): 2 removed: {', '.join(old)}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scanned-29", "uploading-29"]


def test_uploads_that_were_never_imported_go_with_their_files(settings, tmp_path):
    settings.KEEP_UPLOADS_DAYS = 7.0
    ages = ((Trace.SCANNED, 8), (Trace.SCANNED, 6), (Trace.READY, 8), (Trace.PARSING, 8))
    made = {f"{status}-{age}": uploaded(tmp_path, status, age) for status, age in ages}
    assert told() == [f"uploads without an import (KEEP_UPLOADS_DAYS): 1 removed: {made['scanned-8']}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parsing-8", "ready-8", "scanned-6"]
    assert AuditEntry.objects.get(action="trace.delete").subject == f"trace {made['scanned-8']}"


def test_forecasts_go_with_their_scores(settings):
    settings.KEEP_FORECASTS_DAYS = 10.0
    lab = Connection.objects.create(name="lab", connector="push")
    now_ms = int(timezone.now().timestamp() * 1000)
    for days in (9, 11, 12):
        made_ms = now_ms - days * 86_400_000
        Forecast.objects.create(connection=lab, job="1", occasion="hour", method="twin", made_ms=made_ms, start_ms=0)
        Score.objects.create(
            connection=lab, what=Score.START, method="twin", lead=0, made_ms=made_ms, predicted_ms=0, real_ms=0
        )
    assert told() == [f"{what} (KEEP_FORECASTS_DAYS): 2 removed" for what in ("forecasts", "scores of forecasts")]
    assert (Forecast.objects.count(), Score.objects.count()) == (1, 1)


def test_without_the_bus_no_run_goes(settings):
    """Nobody knows then which runs have readers."""
    settings.KEEP_RUNS_DAYS = 1.0
    run = ended(2 * DAY)
    settings.LAYER_URL = "redis://127.0.0.1:1"
    told()
    assert Run.objects.filter(pk=run).exists()


def test_the_ticker_asks_for_it_once_an_hour(monkeypatch):
    sent = []
    monkeypatch.setattr(requests, "send", lambda task, key, *, queue, **_: sent.append((task, key, queue)) is None)
    ticker = ticking.Ticker()
    ticker._slowly()
    assert sent == []
    ticker.cleanups.requested -= cleanup_task.EVERY_S + 1
    ticker._slowly()
    ticker._slowly()
    assert sent == [("apply_retention", 0, "io")]


@pytest.fixture
def in_this_process(monkeypatch):
    """Work of tasks in this process: a child has a copy of the database in memory."""
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: work() or "done")


def test_a_second_clean_up_does_not_begin(settings, in_this_process):
    settings.KEEP_RUNS_DAYS = 30.0
    old = ended(31 * DAY)
    with exclusive.held(cleanup_task.TASK, cleanup_task.KEY):
        tasks.apply_retention(0)
        with pytest.raises(CommandError, match=r"A background worker is removing old data; repeat"):
            told()
        assert cleanup_task.Requests().refresh() == []
        assert Run.objects.filter(pk=old).exists()
    tasks.apply_retention(0)
    assert not Run.objects.filter(pk=old).exists()


def test_another_worker_continues_the_clean_up_of_one_that_was_killed(settings, monkeypatch, in_this_process):
    """Each portion is removed and counted once."""
    settings.KEEP_FORECASTS_DAYS = 10.0
    monkeypatch.setattr(retention, "PORTION", 2)
    lab = Connection.objects.create(name="lab", connector="push")
    for job in range(5):
        Forecast.objects.create(connection=lab, job=str(job), occasion="hour", method="twin", made_ms=0, start_ms=0)
    owner = get_user_model().objects.create(username="ada")
    commands.audit(owner, cleanup_task.REQUEST, "retention", {})
    assert cleanup_task.Requests().refresh() == [0]

    def killed(row, rule, count):
        add(row, rule, count)
        if Forecast.objects.count() == 1:
            raise KeyboardInterrupt

    add = cleanup_task.Entry.add
    monkeypatch.setattr(cleanup_task.Entry, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        cleanup_task.remove()
    assert (Forecast.objects.count(), list(cleanup_task.ended())) == (3, [])  # the second portion is taken back
    TaskLease.objects.create(task=cleanup_task.TASK, key=0, owner="elsewhere.example/1.1", until=timezone.now() - DAY)
    assert cleanup_task.Requests().refresh() == [0]
    monkeypatch.setattr(cleanup_task.Entry, "add", add)
    tasks.apply_retention(0)
    entry = cleanup_task.ended().get()
    assert (entry.user, entry.detail) == (owner, {"removed": {"forecasts": 5}})
    assert (Forecast.objects.count(), TaskLease.objects.count()) == (0, 0)
    assert cleanup_task.Requests().refresh() == []


def test_a_clean_up_whose_worker_died_is_requested_before_the_hour_is_over(monkeypatch):
    monkeypatch.setattr(requests, "send", lambda *_, **__: True)
    asked = cleanup_task.Requests()
    TaskLease.objects.create(task=cleanup_task.TASK, key=0, owner="elsewhere.example/1.1", until=timezone.now() - DAY)
    assert [asked.refresh(), asked.refresh()] == [[0], []], "not again before a worker has had the time to accept it"


@pytest.mark.parametrize(
    ("limit_s", "remove", "error"),
    [
        (0.2, lambda *_: time.sleep(60), "it took longer than 0.2 s"),
        (cleanup_task.MAX_S, lambda *_: 1 / 0, "it failed with an error, which is in the log of the background worker"),
    ],
)
def test_a_clean_up_ends_at_its_time_limit_or_failure_and_says_so(monkeypatch, limit_s, remove, error):
    monkeypatch.setattr(cleanup_task, "MAX_S", limit_s)
    monkeypatch.setattr(retention, "apply", remove)
    commands.audit(None, cleanup_task.REQUEST, "retention", {})
    tasks.apply_retention(0)
    assert cleanup_task.ended().get().detail == {"removed": {}, "error": error}
    assert cleanup_task.Requests().refresh() == []


def test_an_interrupted_clean_up_is_continued_before_one_that_was_requested_later(in_this_process):
    for action, detail in (
        (cleanup_task.REQUEST, {}),
        (cleanup_task.RUN, {"removed": {"forecasts": 5}, cleanup_task.UNFINISHED: True}),
        (cleanup_task.REQUEST, {}),
    ):
        commands.audit(None, action, "retention", detail)
    tasks.apply_retention(0)
    assert [entry.detail for entry in cleanup_task.ended()] == [{"removed": {"forecasts": 5}}]
    assert cleanup_task.requested() is not None
    tasks.apply_retention(0)
    assert [entry.detail for entry in cleanup_task.ended()] == [{"removed": {}}, {"removed": {"forecasts": 5}}]
    assert cleanup_task.requested() is None
