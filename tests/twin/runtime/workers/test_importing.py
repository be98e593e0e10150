"""Imports in a worker: all or nothing, announced as they go, resumed when the worker is lost."""

import re
from datetime import timedelta

import orjson
import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from tests.twin.runtime.queues import messages, work
from twin.infra import pubsub
from twin.infra.errors import Refused
from twin.models import ClusterSpec, Trace
from twin.scenarios import store
from twin.traces import import_commands, import_task
from twin.traces.import_state import import_state

ROWS = """timestamp,duration,num_gpus,gpu_time,cluster
2017-10-01 00:00:10,3600.0,1,3600.0,a
2017-10-01 00:00:00,60.0,8,480.0,b
2017-10-01 01:00:00,nan,1,60.0,b
"""


@pytest.fixture
def upload(db, settings, tmp_path, layer):
    """An upload of these rows, queued."""
    settings.UPLOAD_DIR = tmp_path

    def make(text: str = ROWS, name: str = "philly.csv") -> Trace:
        (tmp_path / "random-name").write_text(text)
        return Trace.objects.create(
            name=name, files=[{"name": name, "size": len(text), "received": len(text), "path": "random-name"}], seed=5
        )

    return make


def test_it_keeps_the_jobs_and_the_report_and_drops_the_upload(upload, tmp_path, django_capture_on_commit_callbacks):
    trace = upload()
    with django_capture_on_commit_callbacks(execute=True):
        import_commands.start_import(trace)
    work("io")
    trace.refresh_from_db()
    assert (trace.status, trace.progress, trace.job_count) == (Trace.READY, 1, 2), trace.message
    assert trace.format == "philly_derived"
    assert [job.arrival_ms for job in store.jobs_of(trace.pk)] == [0, 10_000]
    assert len(trace.preview) == 2
    assert [file["path"] for file in trace.files] == [""]
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_is_one_clear_sentence_and_nothing_stays(upload, tmp_path):
    trace = upload("a,b\n1,2\n")
    import_task.run(trace.pk)
    trace.refresh_from_db()
    assert trace.status == Trace.FAILED
    assert "philly.csv" in trace.message
    assert "Traceback" not in trace.message
    assert (trace.job_count, bytes(trace.jobs), ClusterSpec.objects.count()) == (0, b"", 0)
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_import_leaves_nothing(upload, tmp_path):
    trace = upload()
    import_commands.cancel_import(trace)
    import_task.run(trace.pk)
    trace.refresh_from_db()
    assert (trace.status, trace.job_count, bytes(trace.jobs)) == (Trace.CANCELLED, 0, b"")
    with pytest.raises(Refused, match="only an import that is in progress or waits for a choice can be cancelled"):
        import_commands.cancel_import(trace)


def test_imports_leave_workers_to_other_tasks_and_follow_one_another(upload, layer):
    first, second = upload(), upload()
    Trace.objects.filter(pk=first.pk).update(status=Trace.PARSING)
    import_task.run(second.pk)
    second.refresh_from_db()
    assert second.status == Trace.QUEUED, "one is in progress"
    Trace.objects.filter(pk=second.pk).update(touched_at=timezone.now() - timedelta(minutes=5))
    assert import_task.take_up() == []
    Trace.objects.filter(pk=first.pk).update(status=Trace.FAILED)
    assert import_task.take_up() == [second.pk]
    import_task.work(first.pk)  # as at its end
    assert work("io") == 2
    second.refresh_from_db()
    assert second.status == Trace.READY


def test_an_import_goes_on_while_its_progress_cannot_be_written(upload):
    """A lock of the database: the file has been read by the time it is over."""
    refused = []

    def locked(execute, sql, *rest):
        if sql.startswith(('UPDATE "twin_trace" SET "progress"', "SELECT ")):
            refused.append(sql.split()[0])
            raise OperationalError("database is locked")
        return execute(sql, *rest)

    trace = upload()
    with connection.execute_wrapper(locked):
        assert not import_task._cancelled(trace.pk)
        import_task._Progress(trace)(0.5)
    assert refused == ["SELECT", "UPDATE"]


def test_pages_hear_of_it(upload):
    listener = pubsub.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(pubsub.traces_channel(None))
    listener.get_message(timeout=5)
    import_task.run(upload().pk)
    states = []
    while not states or states[-1]["status"] == Trace.PARSING:
        states.append(orjson.loads(listener.get_message(timeout=5)["data"])["trace"])
    listener.close()
    assert (states[0]["status"], states[-1]["status"], states[-1]["job_count"]) == (Trace.PARSING, Trace.READY, 2)


def test_an_import_whose_process_responds_but_reads_nothing_is_reported(upload, layer):
    now = timezone.now()
    trace, moving = upload(), upload()
    Trace.objects.update(status=Trace.PARSING, touched_at=now, progressed_at=now + timedelta(minutes=1))
    Trace.objects.filter(pk=trace.pk).update(progressed_at=now - timedelta(minutes=5))
    listener = pubsub.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(pubsub.traces_channel(None))
    listener.get_message(timeout=5)
    assert import_task._sign_of_life(moving.pk)
    assert import_task._sign_of_life(trace.pk)
    sent = orjson.loads(listener.get_message(timeout=5)["data"])["trace"]
    listener.close()
    assert sent["id"] == trace.pk
    assert re.fullmatch(r"no progress for 5m( \d+s)?; cancel the import if this takes too long", sent["stalled"])
    (said,) = Client().get("/healthz").json()["stalled"]
    assert said.startswith(f"import of trace {trace.pk}: no progress for 5m")
    trace.refresh_from_db()
    import_task._Progress(trace)(0.5)
    assert import_state(trace)["stalled"] == ""
    assert Client().get("/healthz").json()["stalled"] == []


def test_an_import_in_the_hands_of_a_worker_is_left_to_it(upload):
    trace = upload()
    Trace.objects.filter(pk=trace.pk).update(status=Trace.PARSING, touched_at=timezone.now())
    import_task.run(trace.pk)
    trace.refresh_from_db()
    assert (trace.status, trace.files[0]["path"]) == (Trace.PARSING, "random-name")
    assert import_task.take_up() == []


@pytest.mark.parametrize("minutes", [-1, 5], ids=["for a minute", "since the clock was set back"])
def test_an_import_whose_worker_is_gone_is_parsed_again(upload, minutes):
    trace = upload()
    touched_at = timezone.now() + timedelta(minutes=minutes)
    Trace.objects.filter(pk=trace.pk).update(status=Trace.PARSING, touched_at=touched_at)
    assert import_task.take_up() == [trace.pk]
    work("io")
    trace.refresh_from_db()
    assert trace.status == Trace.READY
    assert messages("io") == []


def test_a_second_request_for_an_import_starts_no_process(upload, monkeypatch):
    trace = upload()
    Trace.objects.filter(pk=trace.pk).update(status=Trace.PARSING, touched_at=timezone.now())
    monkeypatch.setattr(import_task, "_in_process", pytest.fail)
    import_task.work(trace.pk)


@pytest.mark.parametrize(("killed", "status"), [(1, Trace.READY), (2, Trace.FAILED)])
def test_an_import_whose_process_is_killed_is_repeated_once(upload, monkeypatch, killed, status):
    def in_process(trace_id):
        outcomes.append("killed" if len(outcomes) < killed else "done")
        if outcomes[-1] == "done":
            import_task.run(trace_id)
        else:
            Trace.objects.filter(pk=trace_id).update(status=Trace.PARSING)
        return outcomes[-1]

    outcomes: list[str] = []
    monkeypatch.setattr(import_task, "_in_process", in_process)
    trace = upload()
    import_task.work(trace.pk)
    trace.refresh_from_db()
    assert (trace.status, len(outcomes)) == (status, 2)


def test_an_import_beyond_its_memory_says_so(upload, monkeypatch):
    def parse(trace):
        raise MemoryError

    monkeypatch.setattr(import_task, "_import", parse)
    trace = upload()
    import_task.run(trace.pk)
    trace.refresh_from_db()
    assert (trace.status, trace.message) == (
        Trace.FAILED,
        "the import needs more than 4 GiB of memory; import the trace in parts",
    )


def test_an_import_that_takes_too_long_is_given_up(upload, monkeypatch):
    monkeypatch.setattr(import_task, "MAX_S", -1.0)
    trace = upload()
    import_task.run(trace.pk)
    trace.refresh_from_db()
    assert trace.status == Trace.FAILED
    assert "import it in parts" in trace.message
