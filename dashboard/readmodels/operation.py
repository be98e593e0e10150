"""Metrics of the whole twin for Prometheus: runs, queues, processes, imports, live clusters, database and disk.

Gauges are read from the database and the broker at each request; counters come from the heartbeats of all processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone
from kombu import Connection as BrokerConnection
from kombu.exceptions import OperationalError
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from dashboard.readmodels.alerts import open_counts
from twin.infra.counters import COUNTER, METRICS, SECONDS
from twin.mirror.connecting.condition import data_at
from twin.models import Alert, Connection, Run, Trace
from twin.processes import heartbeat
from twin.processes.heartbeat import Process

PREFIX = "twin_"
QUEUES = ("runs", "long", "io", "certificates")


class Twin(Collector):
    """Collector of all metrics; one reading per request. alerts, connections: those that the reader sees."""

    def __init__(self, alerts: QuerySet[Alert], connections: QuerySet[Connection]) -> None:
        self.alerts, self.connections = alerts, connections

    def collect(self) -> Iterator[Metric]:
        """Metric families in the order of docs/operation.md."""
        yield from _runs()
        yield _queues()
        yield _labelled("imports", "Traces by status of their import.", ("status",), _by("status", Trace))
        yield _labelled("alerts_open", "Open alerts by urgency.", ("level",), _alerts(self.alerts))
        yield from _connections(self.connections)
        yield from _stores()
        processes = heartbeat.processes() or []
        yield from _processes(processes)
        yield from _counters(processes)


def _labelled(name: str, about: str, labels: Iterable[str], rows: Iterable[tuple[list[str], float]]) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, about, labels=tuple(labels))
    for values, value in rows:
        family.add_metric(values, value)
    return family


def _alerts(among: QuerySet[Alert]) -> list[tuple[list[str], float]]:
    return [([level], number) for level, number in open_counts(among).items()]


def _by(field: str, model: Any) -> Iterator[tuple[list[str], float]]:
    """Number of rows for each value of a field."""
    for value, rows in model.objects.order_by().values_list(field).annotate(rows=Count("pk")):
        yield [value], rows


def _runs() -> Iterator[Metric]:
    rows = Run.objects.order_by().values_list("mode", "status").annotate(rows=Count("pk"))
    yield _labelled("runs", "Runs by mode and status.", ("mode", "status"), (([m, s], n) for m, s, n in rows))
    oldest = Run.objects.filter(status=Run.QUEUED).aggregate(at=Min("created_at"))["at"]
    waited = (timezone.now() - oldest).total_seconds() if oldest else 0.0
    yield _labelled("run_oldest_queued_seconds", "Age of the run that has been queued longest.", (), [([], waited)])
    events = Run.objects.aggregate(events=Sum("last_seq"))["events"] or 0
    yield _labelled("log_events", "Events in the logs of all runs.", (), [([], events)])


def _queues() -> Metric:
    """Messages that no worker has taken yet; no rows while the broker does not answer."""
    rows: list[tuple[list[str], float]] = []
    if settings.BROKER_URL:
        with suppress(OSError, OperationalError), BrokerConnection(settings.BROKER_URL, connect_timeout=1) as broker:
            broker.ensure_connection(max_retries=1, timeout=1)
            rows = [([queue], _waiting(broker, queue)) for queue in QUEUES]
    return _labelled("queue_messages", "Messages that wait in a queue of the broker.", ("queue",), rows)


def _waiting(broker: BrokerConnection, queue: str) -> int:
    """Number of messages of one queue; one that nobody has declared has none."""
    with broker.channel() as channel:
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except broker.channel_errors:
            return 0


def _connections(among: QuerySet[Connection]) -> Iterator[Metric]:
    now = timezone.now().timestamp()
    ages: list[tuple[list[str], float]] = []
    lags: list[tuple[list[str], float]] = []
    failing: list[tuple[list[str], float]] = []
    for one in among.filter(wanted=Connection.FOLLOWING).only("name", "connector", "health"):
        if at := data_at(one):
            ages.append(([one.name], max(0.0, now - at)))
        lag = one.health.get("lag") or {}
        lags += [([one.name, q], lag[key] / 1000) for q, key in (("0.5", "p50_ms"), ("0.99", "p99_ms")) if key in lag]
        failing.append(([one.name], float(one.health.get("failing_since") is not None)))
    label = ("connection",)
    yield _labelled("follow_data_age_seconds", "Time since the newest data of a live cluster.", label, ages)
    about = "Time from a fact of a live cluster to the log, of the newest 1,000 facts."
    yield _labelled("follow_lag_seconds", about, (*label, "quantile"), lags)
    yield _labelled("follow_failing", "1 if polls of a live cluster fail.", label, failing)


def _stores() -> Iterator[Metric]:
    size = database_bytes()
    yield _labelled("database_bytes", "Size of the database.", (), [] if size is None else [([], size)])
    disk = os.statvfs(settings.VAR_DIR)
    yield _labelled("disk_free_bytes", "Free space of the data folder.", (), [([], disk.f_bavail * disk.f_frsize)])


def database_bytes() -> int | None:
    """Size of the database with its write-ahead log; None where the server does not report it."""
    if connection.vendor == "sqlite":
        name = str(settings.DATABASES["default"]["NAME"])
        files = (Path(name + ending) for ending in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())
    queries = {
        "postgresql": "SELECT pg_database_size(current_database())",
        "mysql": "SELECT SUM(data_length + index_length) FROM information_schema.tables "
        "WHERE table_schema = DATABASE()",
    }
    with connection.cursor() as cursor:
        cursor.execute(queries[connection.vendor])
        return int(cursor.fetchone()[0])


def _processes(processes: list[Process]) -> Iterator[Metric]:
    for name, about, value in (
        ("process_up", "1 if the process answers and does its work.", lambda one: float(one.answers)),
        ("process_silent_seconds", "Time since the last heartbeat of a process.", lambda one: one.silent_s),
        ("process_busy_seconds", "Duration of the current task; 0 without one.", lambda one: one.busy_s),
        ("process_resident_memory_bytes", "Resident memory of a process.", lambda one: one.memory),
    ):
        rows = (([one.kind, one.name], value(one)) for one in processes)
        yield _labelled(name, about, ("kind", "process"), rows)


def _counters(processes: list[Process]) -> Iterator[Metric]:
    """Counters of each process; a process that is replaced begins at 0 under its own name."""
    for name, declared in METRICS.items():
        make = {COUNTER: CounterMetricFamily, "gauge": GaugeMetricFamily}.get(declared.kind, HistogramMetricFamily)
        family: Any = make(PREFIX + name, declared.about, labels=["kind", "process", *declared.labels])
        for one in processes:
            for found, labels, value in one.counters:
                if found != name:
                    continue
                values = [one.kind, one.name, *labels]
                if isinstance(value, list):
                    family.add_metric(values, buckets=_cumulative(value), sum_value=value[-1])
                else:
                    family.add_metric(values, value)
        yield family


def _cumulative(row: list[float]) -> list[tuple[str, float]]:
    """[(upper bound, observations up to it)] of a histogram."""
    total, found = 0.0, []
    for bound, observed in zip([*map(str, SECONDS), "+Inf"], row[:-1], strict=True):
        total += observed
        found.append((bound, total))
    return found
