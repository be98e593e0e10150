"""Queries: shares of use by node, aggregated by the server, so that an answer has one series for a node or a GPU.

`max by` merges duplicates: the same exporter may be scraped twice. Shares are independent of how an exporter counts
(hyper-threads, reserved memory). `timestamp` says when a series was scraped: the time of an answer is that of the
query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scheduling.model.values import ModelError

METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*", re.ASCII)
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
MIN_RATE_S = 120  # a rate needs two scrapes, which may be a minute apart


@dataclass(frozen=True, slots=True)
class Metrics:
    """Names of the metrics of a site."""

    gpu_busy: str
    gpu_used: str
    gpu_free: str
    cpu: str
    memory_total: str
    memory_available: str


@dataclass(frozen=True, slots=True)
class Queries:
    """Expressions by what they measure.

    by        labels that may name the node, the first one that a series has counts
    gpu       label that numbers the GPUs of a node
    matchers  labels that every series must have, as [(label, value)]
    """

    metrics: Metrics
    by: Sequence[str]
    gpu: str
    matchers: Sequence[tuple[str, str]]
    interval_s: int

    def expressions(self) -> dict[str, str]:
        """{name: expression}: shares 0..1 but for gpu_busy in percent; *_at are Unix seconds."""
        m, node, gpu = self.metrics, ", ".join(self.by), ", ".join((*self.by, self.gpu))
        used, free = self._one(m.gpu_used), self._one(m.gpu_free)
        idle, window = self._one(m.cpu, "mode=~" + _quoted("idle|iowait")), max(MIN_RATE_S, 2 * self.interval_s)
        available = self._one(m.memory_available)
        return {
            "gpu_busy": f"max by ({gpu}) ({self._one(m.gpu_busy)})",
            "gpu_memory": f"max by ({gpu}) ({used} / ({used} + {free}))",
            # of all modes, not of 1: the rate of a series that is younger than the window is too low
            "cpu": f"max by ({node}) (1 - {_rate(idle, window)} / {_rate(self._one(m.cpu), window)})",
            "memory": f"max by ({node}) (1 - {available} / {self._one(m.memory_total)})",
            "gpu_at": f"max by ({node}) (timestamp({self._one(m.gpu_busy)}) or timestamp({used}))",
            "node_at": f"max by ({node}) (timestamp({available}) or timestamp({idle}))",
        }

    def _one(self, metric: str, *more: str) -> str:
        matchers = [f"{label}={_quoted(value)}" for label, value in self.matchers] + list(more)
        return f"{metric}{{{', '.join(matchers)}}}" if matchers else metric


def _rate(series: str, window_s: int) -> str:
    """Seconds per second over all CPUs of a node."""
    return f"sum without (cpu, mode) (rate({series}[{window_s}s]))"


def checked_metric(parameter: str, name: str) -> str:
    """The name; ModelError where it cannot be that of a metric."""
    if not METRIC.fullmatch(name):
        raise ModelError(
            f"parameter {parameter} must be the name of a metric (letters, digits, _ and :), got {name[:100]!r}"
        )
    return name


def checked_labels(parameter: str, text: str) -> tuple[str, ...]:
    """Names of labels, separated by commas; ModelError where one cannot be."""
    names = tuple(word.strip() for word in text.split(",") if word.strip())
    if not names or not all(LABEL.fullmatch(name) for name in names):
        raise ModelError(f"parameter {parameter} must be names of labels such as Hostname,instance, got {text[:100]!r}")
    return names


def checked_matchers(text: str) -> tuple[tuple[str, str], ...]:
    """`cluster=lab,env=prod` as pairs; ModelError where it has another form."""
    pairs = [word.partition("=") for word in text.split(",") if word.strip()]
    found = tuple((label.strip(), value.strip()) for label, _, value in pairs)
    if not all(equals and LABEL.fullmatch(label) for (label, _), (_, equals, _) in zip(found, pairs, strict=True)):
        raise ModelError(f"parameter labels must have the form label=value,label=value, got {text[:100]!r}")
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
