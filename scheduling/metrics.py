"""Every figure of a run, computed from its events alone, the same way for all schedulers.

Definitions: completion is when a job's work is done; JCT = completion - arrival, over completed jobs; makespan = last
completion - first arrival; a suspension is a gap between the worker bars of a chunk (or of a job without chunks);
utilization of a resource is the share of capacity x time that bars hold, from the first arrival to the last end of a bar;
a server that is away has no capacity. Figures of typed lanes are in metrics_lanes.py, those of
groups in metrics_groups.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduling.futures import Futures
from scheduling.metrics_groups import Groups
from scheduling.metrics_lanes import of_lanes, suspensions
from scheduling.model import CLOUD, RESOURCES, Cluster, Event, Job, Role


def summarize(
    events: Iterable[Event], cluster: Cluster, jobs: Sequence[Job], worlds: Sequence[tuple[int, Cluster]] = ()
) -> dict[str, Any]:
    """The `metrics` of summary.json; times in ms, utility in the papers' unit, utilization as shares from 0 to 1.

    worlds: the clusters of a run that was edited on the way, each with when it began; the last one is `cluster`.
    """
    arrivals: dict[int, int] = {}
    completions: dict[int, int] = {}
    first_verdict: dict[int, str] = {}
    futures, groups = Futures(), Groups()
    utility = 0.0
    for event in events:
        data = event.data
        groups.feed(event)
        if event.kind == "planned" or event.kind == "lanes_planned":
            futures.feed(event)
        elif event.kind == "decided":
            first_verdict.setdefault(data["job"], data["kind"])
        elif event.kind == "job_arrived":
            arrivals[data["job"]] = event.at_ms
        elif event.kind == "job_completed":
            completions[data["job"]] = event.at_ms
            utility += data["utility"]
    times = np.array([completions[job] - arrivals[job] for job in completions], dtype=np.int64)
    rejected = sum(kind == "rejected" for kind in first_verdict.values())
    bars = futures.matrix()
    first_ms = min(arrivals.values(), default=0)
    figures: dict[str, Any] = {
        "total_utility": utility,
        "jobs": len(arrivals),
        "admitted": sum(kind in ("admitted", "started") for kind in first_verdict.values()),
        "rejected": rejected,
        "completed": len(completions),
        "mean_jct_ms": float(times.mean()) if len(times) else None,
        "median_jct_ms": float(np.median(times)) if len(times) else None,
        "p95_jct_ms": float(np.percentile(times, 95)) if len(times) else None,
        "makespan_ms": max(completions.values()) - min(arrivals.values()) if completions else None,
        "suspensions": _suspensions(bars),
        "utilization": _utilization(bars, worlds or [(0, cluster)], jobs, first_ms),
    }
    if (bars[:, 6] >= 0).any() or (bars[:, 2] == CLOUD).any() or futures.lanes:
        figures["lanes"] = of_lanes(bars, cluster, jobs, {job: completions[job] - arrivals[job] for job in completions}, first_ms)
    if groups.any:
        figures["groups"] = groups.figures(cluster, first_ms, max(completions.values(), default=first_ms))
    return figures


def _suspensions(bars: np.ndarray) -> int:
    """Of chunks, or of jobs without chunks."""
    workers = bars[bars[:, 1] == Role.WORKER]
    _, owner = np.unique(workers[:, [0, 7]], axis=0, return_inverse=True)
    return suspensions(owner, workers)


def _utilization(
    bars: np.ndarray, worlds: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], first_ms: int
) -> dict[str, float | None]:
    bars = bars[(bars[:, 2] >= 0) & (bars[:, 1] != Role.TRANSFER)]
    if not len(bars):
        return dict.fromkeys(RESOURCES)
    zero = (0,) * len(RESOURCES)
    demands = np.array([[job.worker or zero, job.ps or zero] for job in jobs], dtype=float)  # [job, role, resource]
    held = (bars[:, 5] * (bars[:, 4] - bars[:, 3]))[:, None] * demands[bars[:, 0], bars[:, 1]]
    return shares(held.sum(axis=0), offered(worlds, first_ms, int(bars[:, 4].max())))


def offered(worlds: Sequence[tuple[int, Cluster]], first_ms: int, last_ms: int) -> np.ndarray:
    """[resource] capacity x time from first_ms to last_ms; a server that is away has none.

    worlds: when each began, and its cluster, in order.
    """
    total = np.zeros(len(RESOURCES))
    ends = [begin for begin, _ in worlds[1:]] + [last_ms]
    for (begin_ms, cluster), end_ms in zip(worlds, ends, strict=True):
        begin, end = max(begin_ms, first_ms), min(end_ms, last_ms)
        if begin >= end:
            continue
        for server in cluster.servers:
            gone = sum(max(0, min(back, end) - max(left, begin)) for left, back in server.away)
            total += np.array(server.capacity, dtype=float) * (end - begin - gone)
    return total


def shares(held: np.ndarray, of: np.ndarray) -> dict[str, float | None]:
    """{resource: share}; None where there is none of it."""
    return {name: float(h / o) if o > 0 else None for name, h, o in zip(RESOURCES, held, of, strict=True)}
