"""Runs of typed workers for the rows: metrics and the encoded log, without a database."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Cluster, Event, Job
from scheduling.reporting.metrics import summarize
from twin.eventlog import batch_codec
from twin.infra import gc_control
from twin.runs.engine import Engine


class Played(NamedTuple):
    """Seconds of the run and its metrics, ms of its slowest hundredth of decisions, and its events."""

    run_s: float
    cpu_s: float  # of the run: what other processes take from the machine does not count
    metrics_s: float
    p99_ms: float
    events: int
    bars: int


def play(
    cluster: Cluster,
    jobs: Sequence[Job],
    scheduler: str,
    parameters: dict[str, Any] | None = None,
    metrics: bool = True,
) -> Played:
    """A whole run, as a worker computes it."""
    engine = Engine(Simulation(cluster, jobs, build(scheduler, parameters or {}), 1))
    gc_control.spare()
    events: list[Event] = []
    count = bars = 0
    began, began_cpu = time.perf_counter(), time.process_time()
    while batch := engine.batch(None):
        batch_codec.encode(batch)
        count += len(batch)
        bars += sum(len(event.data["bars"]) for event in batch if "bars" in event.data)
        if metrics:
            events += batch
    run_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
    if metrics:
        summarize(events, cluster, jobs)
    p99 = float(np.percentile(engine.decisions, 99)) * 1_000 if engine.decisions else 0.0
    return Played(run_s, cpu_s, time.perf_counter() - began - run_s, p99, count, bars)
