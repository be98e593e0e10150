"""Warnings about the unit of a trace's times: span, run times, and load on its own machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.model.values import Cluster
from twin.traces.importing.drafts import Drafts, Read

MIN_JOBS = 20  # jobs, below which nothing is doubted
SHORT_RUN_MS, LONG_RUN_MS = 1_000, 60 * 86_400_000  # of the median job
MAX_SPAN_MS = 20 * 366 * 86_400_000
MIN_LOAD, MAX_LOAD = 0.01, 100.0  # share of the machines' capacity
YEAR_MS = 366 * 86_400_000


def doubts(reads: Sequence[Read]) -> list[str]:
    """A sentence for each implausible property."""
    drafts = next((read.drafts for read in reads if read.drafts is not None), None)
    if drafts is None or len(drafts) < MIN_JOBS:
        return []
    cluster = next((read.cluster for read in reads if read.cluster is not None), None)
    found = [_runs(drafts), _span(drafts), _load(drafts, cluster) if cluster is not None else ""]
    stated = [text for text in found if text]
    return [f"{text} Check the unit of the times." for text in stated]


def _runs(drafts: Drafts) -> str:
    median = float(np.median(drafts.run_ms))
    if SHORT_RUN_MS <= median <= LONG_RUN_MS:
        return ""
    limit = "shorter than 1 s" if median < SHORT_RUN_MS else "longer than 60 days"
    return f"The median run time is {_length(median)}, {limit}."


def _span(drafts: Drafts) -> str:
    """Arrivals over decades, or so close together that half of the jobs arrive within a thousandth of a run time."""
    span = int(drafts.arrival_ms[-1])
    if span > MAX_SPAN_MS:
        return f"The arrivals span {_length(span)}."
    median = float(np.median(drafts.run_ms))
    if 0 < span < median / 1000:
        return f"All {len(drafts):,} jobs arrive within {_length(span)}, but the median run time is {_length(median)}."
    return ""


def _load(drafts: Drafts, cluster: Cluster) -> str:
    load = load_of(drafts, cluster)
    if load is None or MIN_LOAD <= load <= MAX_LOAD:
        return ""
    limit = "less than 1 %" if load < MIN_LOAD else "more than 100 times"
    return f"The load is {load:.2g} of the capacity of the trace's own servers, {limit}."


def load_of(drafts: Drafts, cluster: Cluster) -> float | None:
    """Work of the jobs / capacity of the machines from the first arrival to the last end, of GPUs or else CPUs."""
    for resource in (0, 1):
        each = drafts.demand[:, resource]
        capacity = sum(server.capacity[resource] for server in cluster.servers)
        if (each > 0).any() and capacity > 0:
            work = float((np.maximum(each, 0) * drafts.workers * drafts.run_ms.astype(float)).sum())
            return work / (capacity * max(1.0, float((drafts.arrival_ms + drafts.run_ms).max())))
    return None


def _length(ms: float) -> str:
    """A duration in its largest unit."""
    for unit, length in (("years", YEAR_MS), ("days", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if ms >= length:
            return f"{ms / length:.3g} {unit}"
    return f"{ms:.3g} ms"
