"""Counters of this process since its start; its heartbeats carry them to /metrics (docs/operation.md)."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # upper bounds of buckets


@dataclass(frozen=True)
class Declared:
    """Declaration of a metric: its kind, its definition, and the names of its labels."""

    kind: str
    about: str
    labels: Sequence[str] = ()


METRICS = {
    "http_requests": Declared(COUNTER, "Answered HTTP requests.", ("method", "status")),
    "http_request_seconds": Declared(HISTOGRAM, "Time from the start of a request to its answer."),
    "sockets": Declared(GAUGE, "Open WebSockets."),
    "frames_sent": Declared(COUNTER, "Messages sent to WebSockets."),
    "frames_dropped": Declared(COUNTER, "Messages dropped for clients that are too slow; they fetch a snapshot."),
    "tasks": Declared(COUNTER, "Tasks of workers that ended.", ("task", "outcome")),
    "task_seconds": Declared(HISTOGRAM, "Duration of tasks of workers; `advance_run` is a slice of a run.", ("task",)),
    "events_pushed": Declared(COUNTER, "Events accepted from sources that post."),
    "log_errors": Declared(COUNTER, "Lines of the level ERROR or above in the logs."),
}

Key = tuple[str, tuple[str, ...]]  # name and values of its labels
_lock = threading.Lock()
_sums: dict[Key, float] = defaultdict(float)
_buckets: dict[Key, list[float]] = {}  # number of observations by bucket, above all bounds, and their sum
# a thread of the parent that held the lock would not exist in the child, which would wait for ever
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def count(name: str, *labels: str, by: float = 1) -> None:
    """Increment of a counter or a gauge."""
    with _lock:
        _sums[name, labels] += by


def observe(name: str, seconds: float, *labels: str) -> None:
    """Addition of one observation to a histogram."""
    place = sum(seconds > bound for bound in SECONDS)
    with _lock:
        row = _buckets.setdefault((name, labels), [0.0] * (len(SECONDS) + 2))
        row[place] += 1
        row[-1] += seconds


@contextmanager
def timed(name: str, *labels: str) -> Iterator[None]:
    """Measurement of the time that the block takes."""
    began = time.monotonic()
    try:
        yield
    finally:
        observe(name, time.monotonic() - began, *labels)


def snapshot() -> list[list[object]]:
    """[[name, labels, value]]; the value of a histogram is a list: observations by bucket, and their sum."""
    with _lock:
        rows: list[list[object]] = [[name, list(labels), value] for (name, labels), value in _sums.items()]
        return rows + [[name, list(labels), list(row)] for (name, labels), row in _buckets.items()]


class CountErrors(logging.Handler):
    """Logging handler that counts lines of the level ERROR or above."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)

    def emit(self, record: logging.LogRecord) -> None:
        count("log_errors")
