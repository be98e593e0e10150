"""Traces for OpenTelemetry: what a collector receives of requests, tasks and statements, and what their logs say."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from celery.app.trace import trace_task
from django.conf import settings as django_settings
from django.core.handlers.asgi import ASGIRequest

from tests.twin.builders_stack import START, completes
from tests.twin.operation.collector import Collector, Received, collecting
from tests.twin.runtime.stack import Stack
from twin.config.celery import app
from twin.config.http import PooledHandler
from twin.config.json_logs import JsonLines
from twin.infra import tracing


@pytest.fixture
def collector(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector to which this process sends its traces."""
    with collecting() as found:
        settings.TRACES_ENDPOINT = found.url
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        tracing.start("web")
        yield found
        tracing.stop()


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """Lines of the log as JSON, as they are written."""
    found: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(orjson.loads(JsonLines().format(record)))

    handler = Kept()
    logging.getLogger().addHandler(handler)
    yield found
    logging.getLogger().removeHandler(handler)


def ask(client: Any, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    """The answer of the web server's handler, in this thread."""
    content = b"" if body is None else orjson.dumps(body)
    known = {"host": "localhost", "cookie": f"sessionid={client.cookies['sessionid'].value}; csrftoken={'a' * 32}",
             "x-csrftoken": "a" * 32, "content-type": "application/json",
             "content-length": str(len(content)), **headers}  # fmt: skip
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET" if body is None else "POST", "path": path, "query_string": query.encode(),
             "headers": [(name.encode(), value.encode()) for name, value in known.items()]}  # fmt: skip
    return PooledHandler()._answer(ASGIRequest(scope, io.BytesIO(content)))


def work_once(queue: str = "runs") -> tuple[str, str]:
    """Does the oldest message of a queue as a worker does; the id of its task and its name."""
    with app.connection_for_read() as connection:
        message = connection.SimpleQueue(queue).get(block=False)
        message.ack()
    name, number = message.headers["task"], message.headers["id"]
    request = {**message.headers, "delivery_info": {"routing_key": queue}}
    trace_task(app.tasks[name], number, message.payload[0], {}, request=request, app=app)
    return number, name


def sent(collector: Collector) -> list[Received]:
    tracing._provider.force_flush()
    return collector.spans


@pytest.mark.django_db(transaction=True)
def test_a_request_its_task_and_their_statements_are_one_trace(collector, operator, make_scenario):
    scenario = make_scenario(scheduler="oasis")
    parent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    body = {"scenario": scenario.pk, "mode": "batch"}
    answer = ask(operator, "/api/runs/", body, **{"x-request-id": "req-7", "traceparent": parent})
    assert answer.status_code == 201, answer.content
    run = orjson.loads(answer.content)["id"]
    first, name = work_once()
    spans = sent(collector)
    [request] = [span for span in spans if span.kind == "server"]
    assert (request.name, request.trace, request.parent) == ("POST /api/runs/", "ab" * 16, "cd" * 8)
    assert request.values["twin.request"] == "req-7" == answer.headers["X-Request-Id"]
    assert request.values["http.response.status_code"] == 201
    assert request.values["url.path"] == "/api/runs/"
    assert request.resource["service.name"] == "edge-cloud-twin"
    assert request.resource["twin.process"] == "web"
    [task] = [span for span in spans if span.kind == "consumer"]
    assert (task.name, task.trace, task.parent, task.links) == (name, request.trace, request.span, ())
    assert (task.values["twin.task"], task.values["twin.doing"]) == (first, f"run {run}")
    assert task.values["messaging.destination.name"] == "runs"
    for owner in (request, task):
        statements = [span for span in spans if span.parent == owner.span and span.kind == "client"]
        assert {"SELECT", "INSERT"} <= {span.name for span in statements}
        assert all(span.trace == owner.trace and span.values["db.query.text"] for span in statements)
    assert len(spans) == 2 + sum(span.kind == "client" for span in spans), "nothing else has a span"


@pytest.mark.django_db(transaction=True)
def test_a_task_of_a_task_begins_a_trace_with_a_link(collector, monkeypatch):
    def again(*_: Any) -> None:
        app.send_task("twin.tasks.evaluate_alerts", (0,), queue="io")

    monkeypatch.setattr("twin.alerts.evaluation_task.work", again)
    again()
    first, _ = work_once("io")
    follower, _ = work_once("io")
    tasks = {span.values["twin.task"]: span for span in sent(collector) if span.kind == "consumer"}
    assert tasks[first].parent == tasks[follower].parent == "", "nothing had a span when the first was sent"
    assert tasks[follower].links == (tasks[first].span,)
    assert tasks[follower].trace != tasks[first].trace


@pytest.mark.django_db(transaction=True)
def test_log_lines_name_the_trace_the_request_and_the_task(collector, operator, lines, monkeypatch):
    ask(operator, "/runs/999/", **{"x-request-id": "gone"})
    monkeypatch.setattr("twin.alerts.evaluation_task.work", lambda: logging.getLogger("twin").warning("evaluated"))
    app.send_task("twin.tasks.evaluate_alerts", (0,), queue="io")
    number, _ = work_once("io")
    [request] = [span for span in sent(collector) if span.kind == "server"]
    [task] = [span for span in sent(collector) if span.kind == "consumer"]
    [asked] = [line for line in lines if line["message"] == "Not Found: /runs/999/"]
    [worked] = [line for line in lines if line["message"] == "evaluated"]
    assert (asked["request"], asked["trace"], asked["span"]) == ("gone", request.trace, request.span)
    assert (worked["task"], worked["trace"], worked["span"]) == (number, task.trace, task.span)
    assert worked["doing"] == task.values["twin.doing"] == "the evaluation of alerts"
    assert request.values["twin.request"] == "gone"


@pytest.mark.django_db(transaction=True)
def test_failures_are_errors_with_their_exception(collector, operator, monkeypatch):
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("dashboard.pages.pages.render", fail)
    assert ask(operator, "/audit/").status_code == 500
    monkeypatch.setattr("twin.alerts.evaluation_task.work", fail)
    app.send_task("twin.tasks.evaluate_alerts", (0,), queue="io")
    work_once("io")
    for kind in ("server", "consumer"):
        [span] = [span for span in sent(collector) if span.kind == kind]
        assert (span.failed, span.events) == (True, ("exception",)), kind


@pytest.mark.django_db(transaction=True)
def test_values_and_addresses_of_logins_are_not_sent(collector, operator):
    ask(operator, "/login/a-secret-of-somebody/")
    ask(operator, "/api/search/?q=private")
    everything = repr(sent(collector))
    assert "/login/<str:token>/" in everything
    for secret in ("a-secret-of-somebody", "private", operator.cookies["sessionid"].value, "olga"):
        assert secret not in everything


def manage(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", *words], env={**os.environ, "DJANGO_SETTINGS_MODULE": "twin.config.settings", **env},
        cwd=django_settings.BASE_DIR, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


LOADED = """
import sys
import twin.config.asgi
from twin.infra import tracing
tracing.start("web")
print([name for name in sys.modules if name.startswith("opentelemetry")][:1])
"""


def test_without_the_setting_nothing_is_imported(tmp_path):
    done = manage(LOADED, OTEL_EXPORTER_OTLP_ENDPOINT="", TWIN_VAR_DIR=str(tmp_path))
    assert done.stdout == "[]\n", done.stderr
    done = manage(LOADED, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1", TWIN_VAR_DIR=str(tmp_path))
    assert done.stdout == "['opentelemetry']\n", done.stderr


def test_missing_packages_and_a_wrong_address_are_said_in_one_line(tmp_path):
    script = "import sys; sys.modules['opentelemetry'] = None; from django.conf import settings; settings.DEBUG"
    for address, sentence in (
        ("http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are missing: "
         "bin/prepare requirements-tracing.txt installs them\n"),
        ("collector:4317", "OTEL_EXPORTER_OTLP_ENDPOINT must be an address with http:// or https://, got "
         "'collector:4317'; OTLP over HTTP usually has port 4318\n"),
    ):  # fmt: skip
        done = manage(script, OTEL_EXPORTER_OTLP_ENDPOINT=address, TWIN_VAR_DIR=str(tmp_path))
        assert (done.returncode, done.stderr) == (1, sentence)


@pytest.mark.slow
def test_processes_of_a_whole_twin_send_their_spans(tmp_path):
    with collecting() as collector:
        stack = Stack(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_BSP_SCHEDULE_DELAY="200").up()
        try:
            run = int(stack.manage(START))
            completes(stack, run)
        finally:
            stack.down()
        slices = [span for span in collector.spans if span.values.get("twin.doing") == f"run {run}"]
        assert {span.name for span in slices} == {"twin.tasks.advance_run"}
        assert {span.resource["twin.process"] for span in collector.spans} >= {"web", "worker for runs"}
        owned = {span.parent for span in collector.spans if span.kind == "client"}
        assert {span.span for span in slices} <= owned, "each slice has statements"
        assert any(span.name == "GET /healthz" for span in collector.spans)
