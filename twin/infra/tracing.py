"""Traces for OpenTelemetry: spans of requests, of tasks, and of the database statements of both.

They are off without OTEL_EXPORTER_OTLP_ENDPOINT: then no package of OpenTelemetry is imported (docs/operation.md).
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.core.signals import got_request_exception
from django.db import connections
from django.db.backends.signals import connection_created
from django.http import HttpRequest
from django.http.response import HttpResponseBase

SERVICE = "edge-cloud-twin"  # unless OTEL_SERVICE_NAME is set
STOP_S = 2.0
MAX_STATEMENT = 2_000  # characters of a statement; its values are never sent
FOLLOWS = "follows"  # header of a message: the task that has sent it; a new trace links to that one
DOING = "twin.doing"  # attribute of a task: what its log lines call doing
PARENT = "traceparent"  # header of a message from a request: the span of the request
SECRET_PATHS = "login/"  # routes whose addresses may contain a token

Response = TypeVar("Response", bound=HttpResponseBase)

_tracer: Any = None  # of this process; None while traces are off
_provider: Any = None
_tasks: dict[str, tuple[Any, Any]] = {}  # id of a task that runs -> its span, and the context before it


def start(kind: str, exporter: Any = None) -> None:
    """Start of the traces of this process; nothing without the setting."""
    global _tracer, _provider
    if not settings.TRACES_ENDPOINT or _tracer is not None:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    host = socket.gethostname()
    about: dict[str, Any] = {
        "service.instance.id": f"{host}/{os.getpid()}",
        "host.name": host,
        "process.pid": os.getpid(),
    }
    name = os.environ.get("OTEL_SERVICE_NAME") or SERVICE
    resource = Resource.create({"service.name": name, "twin.process": kind, **about})
    _provider = TracerProvider(resource=resource, shutdown_on_exit=False)  # it would wait for 30 s
    _provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    _tracer = _provider.get_tracer("twin")
    connection_created.connect(_watch)
    got_request_exception.connect(_note_exception)
    for known in connections.all(initialized_only=True):
        _watch(known)


def stop() -> None:
    """End of the traces of this process. Finished spans are sent before, if the collector takes them within STOP_S."""
    global _tracer, _provider
    if _tracer is None:
        return
    connection_created.disconnect(_watch)
    got_request_exception.disconnect(_note_exception)
    for known in connections.all(initialized_only=True):
        if _statement in known.execute_wrappers:
            known.execute_wrappers.remove(_statement)
    ending = threading.Thread(target=_provider.shutdown, daemon=True)
    ending.start()
    ending.join(STOP_S)
    _tracer = _provider = None
    _tasks.clear()


def ids() -> dict[str, str]:
    """{trace, span} of the current span, for log lines; empty without one."""
    if _tracer is None:
        return {}
    context = _current().get_span_context()
    return {"trace": f"{context.trace_id:032x}", "span": f"{context.span_id:016x}"} if context.is_valid else {}


def note_work(what: str) -> None:
    """Addition to the work that the current span names; a task may do several things in turn."""
    if _tracer is not None and (span := _current()).is_recording():
        before = span.attributes.get(DOING)
        span.set_attribute(DOING, f"{before}; {what}" if before else what)


def answer(request: HttpRequest, respond: Callable[[HttpRequest], Response], request_id: str) -> Response:
    """The response to a request, in a span of the kind server."""
    if _tracer is None:
        return respond(request)
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind, StatusCode

    parent = extract({name.lower(): value for name, value in request.headers.items()})
    known = {"http.request.method": request.method, "url.scheme": request.scheme, "twin.request": request_id}
    with _tracer.start_as_current_span(str(request.method), parent, SpanKind.SERVER, known) as span:
        response = respond(request)
        route = _route(request)
        if not route.startswith(SECRET_PATHS):
            span.set_attribute("url.path", request.path)
        if request.resolver_match:
            span.update_name(f"{request.method} /{route}")
            span.set_attribute("http.route", f"/{route}")
        span.set_attribute("http.response.status_code", response.status_code)
        if response.status_code >= 500:
            span.set_status(StatusCode.ERROR)
        return response


def into_message(headers: dict[str, Any]) -> None:
    """Headers of a message that name the current span.

    A task that a request has sent belongs to the trace of that request. One that another task has sent begins a trace
    of its own, with a link: the slices of a run would otherwise be one trace of weeks.
    """
    if _tracer is None:
        return
    from opentelemetry.propagate import inject
    from opentelemetry.trace import SpanKind

    carrier: dict[str, str] = {}
    inject(carrier)
    if PARENT in carrier:
        headers[FOLLOWS if getattr(_current(), "kind", None) is SpanKind.CONSUMER else PARENT] = carrier[PARENT]


def begin_task(task_id: str, name: str, request: Any) -> None:
    """Start of the span of a task, of the kind consumer."""
    if _tracer is None:
        return
    from opentelemetry import context
    from opentelemetry.propagate import extract
    from opentelemetry.trace import Link, SpanKind, get_current_span, set_span_in_context

    parent = extract({PARENT: getattr(request, PARENT, None) or ""}, context.Context())
    before = get_current_span(extract({PARENT: getattr(request, FOLLOWS, None) or ""}, context.Context()))
    links = [Link(before.get_span_context())] if before.get_span_context().is_valid else []
    queue = (getattr(request, "delivery_info", None) or {}).get("routing_key") or ""
    known = {"twin.task": task_id, "messaging.system": "celery", "messaging.destination.name": queue}
    span = _tracer.start_span(name, parent, SpanKind.CONSUMER, known, links)
    _tasks[task_id] = span, context.attach(set_span_in_context(span))


def end_task(task_id: str, state: str) -> None:
    """End of the span of a task."""
    if task_id not in _tasks:
        return
    from opentelemetry import context
    from opentelemetry.trace import StatusCode

    span, token = _tasks.pop(task_id)
    context.detach(token)
    if state == "FAILURE":
        span.set_status(StatusCode.ERROR)
    span.end()


def note_failure(error: BaseException) -> None:
    """Record of an exception in the current span."""
    if _tracer is not None:
        _current().record_exception(error)


def _route(request: HttpRequest) -> str:
    """Pattern of the address of a request, without the marks of regular expressions; empty for an unknown address."""
    route = request.resolver_match.route if request.resolver_match else ""
    return route.replace("^", "").removesuffix("$").removesuffix("\\Z")


def _note_exception(**_: Any) -> None:
    if error := sys.exc_info()[1]:
        note_failure(error)


def _current() -> Any:
    from opentelemetry.trace import get_current_span

    return get_current_span()


def _watch(connection: Any, **_: Any) -> None:
    if _statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_statement)


def _statement(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """A statement of the database in a span of the kind client, if it belongs to a request or a task."""
    if _tracer is None or not _current().is_recording():
        return execute(sql, params, many, context)
    from opentelemetry.trace import SpanKind

    verb = sql.split(None, 1)[0].upper()
    system, text = context["connection"].vendor, sql[:MAX_STATEMENT]
    known: dict[str, Any] = {"db.system.name": system, "db.operation.name": verb, "db.query.text": text}
    if many and hasattr(params, "__len__"):
        known["db.operation.batch.size"] = len(params)
    with _tracer.start_as_current_span(verb, kind=SpanKind.CLIENT, attributes=known):
        return execute(sql, params, many, context)
