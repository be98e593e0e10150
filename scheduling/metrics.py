"""Every figure of a run, computed from its events alone, the same way for all schedulers.

Definitions: completion is when a job's work is done; JCT = completion - arrival, over completed jobs; makespan = last
completion - first arrival; a suspension is a gap between the worker bars of a chunk (or of a job without chunks);
utilization of a resource is the share of capacity x time that bars hold, from the first arrival to the last end of a bar;
a server that is away has no capacity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduling.model import RESOURCES, Cluster, Event, Job, Placement, Role


def summarize(events: Iterable[Event], cluster: Cluster, jobs: Sequence[Job]) -> dict[str, Any]:
    """The `metrics` of summary.json; times in ms, utility in the papers' unit, utilization as shares from 0 to 1."""
    arrivals: dict[int, int] = {}
    completions: dict[int, int] = {}
    first_verdict: dict[int, str] = {}
    futures: dict[int, list[Placement]] = {}
    utility = 0.0
    for event in events:
        data = event.data
        if event.kind == "planned":
            futures[data["job"]] = _until(futures.get(data["job"], ()), event.at_ms) + list(data["bars"])
        elif event.kind == "decided":
            first_verdict.setdefault(data["job"], data["kind"])
        elif event.kind == "job_arrived":
            arrivals[data["job"]] = event.at_ms
        elif event.kind == "job_completed":
            completions[data["job"]] = event.at_ms
            utility += data["utility"]
    times = np.array([completions[job] - arrivals[job] for job in completions], dtype=np.int64)
    rejected = sum(kind == "rejected" for kind in first_verdict.values())
    return {
        "total_utility": utility,
        "jobs": len(arrivals),
        "admitted": sum(kind in ("admitted", "started") for kind in first_verdict.values()),
        "rejected": rejected,
        "completed": len(completions),
        "mean_jct_ms": float(times.mean()) if len(times) else None,
        "median_jct_ms": float(np.median(times)) if len(times) else None,
        "p95_jct_ms": float(np.percentile(times, 95)) if len(times) else None,
        "makespan_ms": max(completions.values()) - min(arrivals.values()) if completions else None,
        "suspensions": sum(_gaps(bars) for bars in futures.values()),
        "utilization": _utilization(futures, cluster, jobs, min(arrivals.values(), default=0)),
    }


def _until(bars: Iterable[Placement], at_ms: int) -> list[Placement]:
    """What of the bars has happened by `at_ms`."""
    return [bar if bar.end_ms <= at_ms else bar._replace(end_ms=at_ms) for bar in bars if bar.start_ms < at_ms]


def _gaps(bars: list[Placement]) -> int:
    """Times at which a chunk, or the job when it has no chunks, stopped and ran again later."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for bar in bars:
        if bar.role == Role.WORKER:
            spans.setdefault(bar.chunk, []).append((bar.start_ms, bar.end_ms))
    count = 0
    for intervals in spans.values():
        intervals.sort()
        reached = intervals[0][1]
        for start_ms, end_ms in intervals:
            count += start_ms > reached
            reached = max(reached, end_ms)
    return count


def _utilization(
    futures: dict[int, list[Placement]], cluster: Cluster, jobs: Sequence[Job], first_ms: int
) -> dict[str, float | None]:
    bars = np.array([bar for bars in futures.values() for bar in bars], dtype=np.int64).reshape(-1, len(Placement._fields))
    bars = bars[(bars[:, 2] >= 0) & (bars[:, 1] != Role.TRANSFER)]
    capacity = np.array([server.capacity for server in cluster.servers], dtype=float).sum(axis=0)
    if not len(bars) or not len(cluster.servers):
        return dict.fromkeys(RESOURCES)
    zero = (0,) * len(RESOURCES)
    demands = np.array([[job.worker or zero, job.ps or zero] for job in jobs], dtype=float)  # [job, role, resource]
    held = (bars[:, 5] * (bars[:, 4] - bars[:, 3]))[:, None] * demands[bars[:, 0], bars[:, 1]]
    last_ms = int(bars[:, 4].max())
    offered = capacity * (last_ms - first_ms)
    for server in cluster.servers:
        gone = sum(max(0, min(end, last_ms) - max(begin, first_ms)) for begin, end in server.away)
        offered -= np.array(server.capacity, dtype=float) * gone
    shares = held.sum(axis=0) / np.where(offered > 0, offered, np.inf)
    return {name: float(share) if offered[r] > 0 else None for r, (name, share) in enumerate(zip(RESOURCES, shares, strict=True))}
