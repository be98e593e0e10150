"""What monitoring reads: /metrics in the format of Prometheus, and /readyz."""

import io
import logging
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import orjson
import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from dashboard.live.mailbox import MAX_MESSAGES, Mailbox
from twin.config import json_logs
from twin.config.http import PooledHandler
from twin.infra import counters
from twin.models import Connection, Run
from twin.processes import heartbeat


@pytest.fixture(autouse=True)
def own_counters(monkeypatch):
    monkeypatch.setattr(counters, "_sums", type(counters._sums)(float))
    monkeypatch.setattr(counters, "_buckets", {})


def scraped(client, **headers):
    """{(name, labels): value} of all samples."""
    answer = client.get("/metrics", **headers)
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_metrics_are_those_of_the_database(viewer, make_run, finished_run):
    waiting = make_run(scheduler="fifo")
    Connection.objects.create(name="lab", connector="slurm", health={"last_look_at": 1.0, "lag": {"p99_ms": 250}})
    found = scraped(viewer)
    assert found["twin_runs", (("mode", "batch"), ("status", "finished"))] == 1
    assert found["twin_runs", (("mode", "batch"), ("status", "queued"))] == 1
    assert found["twin_log_events", ()] == sum(Run.objects.values_list("last_seq", flat=True)) > 0
    assert found["twin_run_oldest_queued_seconds", ()] >= 0
    assert found["twin_follow_lag_seconds", (("connection", "lab"), ("quantile", "0.99"))] == 0.25
    assert found["twin_follow_failing", (("connection", "lab"),)] == 0
    assert found["twin_follow_data_age_seconds", (("connection", "lab"),)] > 1e9
    assert found["twin_alerts_open", (("level", "serious"),)] == 0
    assert found["twin_disk_free_bytes", ()] > 0
    waiting.refresh_from_db()
    assert waiting.status == Run.QUEUED


def test_counters_of_every_process_come_with_its_heartbeat(viewer):
    pulse = heartbeat.Pulse(heartbeat.RUNS)
    counters.count("tasks", "advance_run", "success", by=2)
    for seconds in (0.004, 0.2, 99.0):
        counters.observe("task_seconds", seconds, "advance_run")
    pulse.beat()
    counters.count("log_errors")  # after the heartbeat: not reported yet
    try:
        found = scraped(viewer)
    finally:
        pulse.stop()
    of = (("kind", "worker for runs"), ("process", pulse.name))
    task = (*of, ("task", "advance_run"))
    assert found["twin_tasks_total", (of[0], ("outcome", "success"), *of[1:], ("task", "advance_run"))] == 2
    buckets = {bound: found["twin_task_seconds_bucket", tuple(sorted((*task, ("le", bound))))]
               for bound in ("0.005", "0.1", "0.25", "30.0", "+Inf")}  # fmt: skip
    assert buckets == {"0.005": 1, "0.1": 1, "0.25": 2, "30.0": 2, "+Inf": 3}
    assert found["twin_task_seconds_sum", task] == pytest.approx(99.204)
    assert found["twin_task_seconds_count", task] == 3
    assert found["twin_process_up", of] == 1
    assert found["twin_process_resident_memory_bytes", of] > 1_000_000
    assert not any(name == "twin_log_errors_total" for name, _ in found)


def test_frames_of_a_slow_client_are_counted_as_dropped():
    box = Mailbox()
    for _ in range(MAX_MESSAGES + 3):
        box.put(b"frame")
    assert counters.snapshot() == [["frames_dropped", [], MAX_MESSAGES + 1]]  # the last two were never queued


def test_lines_of_the_level_error_are_counted():

    handler, log = counters.CountErrors(), logging.getLogger("tests.counted")
    log.addHandler(handler)
    log.propagate = False
    log.warning("not counted")
    log.error("counted")
    assert counters.snapshot() == [["log_errors", [], 1.0]]


def test_metrics_need_a_role_or_a_token_that_may_read(operator, nobody):
    assert Client().get("/metrics").status_code in (401, 403)
    assert nobody.get("/metrics").status_code == 403
    made = operator.post(
        "/api/tokens/", {"name": "prometheus", "scopes": ["read"], "days": 1}, content_type="application/json"
    )
    assert made.status_code == 201, made.content
    token = made.json()["value"]
    assert scraped(Client(), headers={"authorization": f"Bearer {token}"})["twin_disk_free_bytes", ()] > 0


def test_metrics_are_answered_without_a_broker(viewer, settings):
    settings.BROKER_URL = settings.LAYER_URL = "redis://127.0.0.1:1"
    found = scraped(viewer)
    assert not any(name.startswith(("twin_queue", "twin_process")) for name, _ in found)
    assert found["twin_log_events", ()] == 0


@pytest.mark.django_db
def test_a_web_process_is_ready_without_workers():
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "reason": ""})


@pytest.mark.django_db
def test_a_database_of_another_version_is_not_ready():
    MigrationRecorder(connection).record_unapplied("dashboard", "0005_arrangements")
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reason"].startswith("1 migration not applied (dashboard 0005_arrangements); run ")


@pytest.mark.django_db
def test_a_web_process_without_the_bus_is_not_ready(settings):
    settings.LAYER_URL = "redis://127.0.0.1:1"
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reason"].startswith("the frame bus does not answer: ")


def test_a_log_line_is_a_json_object_with_its_request_task_and_work():
    record = logging.LogRecord("twin.runs", logging.ERROR, __file__, 1, "run %s failed", (7,), None)
    try:
        raise ValueError("a cause\nof two lines")
    except ValueError:
        record.exc_info = sys.exc_info()
    request, task = json_logs.request_id.set("abc"), json_logs.task_id.set("t-1")
    try:
        with heartbeat.doing("run 7"):
            line = json_logs.JsonLines().format(record)
    finally:
        json_logs.request_id.reset(request)
        json_logs.task_id.reset(task)
    assert "\n" not in line
    found = orjson.loads(line)
    assert {key: found[key] for key in ("level", "logger", "message", "request", "task", "doing")} == {
        "level": "ERROR", "logger": "twin.runs", "message": "run 7 failed", "request": "abc", "task": "t-1",
        "doing": "run 7",
    }  # fmt: skip
    assert found["exception"].endswith("ValueError: a cause\nof two lines")
    record.exc_info = None
    assert orjson.loads(Context().run(json_logs.JsonLines().format, record)).keys() == {
        "time", "level", "logger", "process", "message"
    }  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "kept"), [("req-1.a:b", True), ("two words", False), ("x" * 101, False), ("", False)]
)
def test_an_answer_names_its_request(given, kept):
    handler = PooledHandler()
    request = ASGIRequest({"type": "http", "method": "GET", "path": "/readyz", "query_string": b"", "headers": [
        (b"host", b"localhost"), (b"x-request-id", given.encode())]}, io.BytesIO())  # fmt: skip
    with ThreadPoolExecutor(1) as pool:  # a thread of its own, as of the web server
        answer = pool.submit(handler._answer, request).result()
    found = answer.headers["X-Request-Id"]
    assert (found == given) is kept
    assert kept or len(found) == 16
    assert ["http_requests", ["GET", str(answer.status_code)], 1.0] in counters.snapshot()


def test_every_metric_is_documented(viewer):
    pulse = heartbeat.Pulse(heartbeat.WEB)
    pulse.beat()
    try:
        content = viewer.get("/metrics").content.decode()
    finally:
        pulse.stop()
    served = {line.split()[2] for line in content.splitlines() if line.startswith("# TYPE")}
    documented = set(
        re.findall(r"^\| `(twin_\w+)` \|", (settings.BASE_DIR / "docs" / "operation.md").read_text(), re.M)
    )
    assert served == documented
