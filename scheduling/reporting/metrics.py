"""The metrics of a run, computed from its events alone, the same way for all schedulers.

Their definitions are in metric_table.py. The part `lanes` is computed in typed_workers/metrics.py, the part `groups` in
colocation/metrics.py.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scheduling.colocation.metrics import Groups
from scheduling.kernel.realized_schedule import Futures
from scheduling.model.bars import CHUNK, COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import RESOURCES, Cluster, Event, Job, Role
from scheduling.reporting.parts import Part, Played, present_ms
from scheduling.typed_workers.metrics import Workers, suspensions

PARTS: dict[str, type[Part]] = {part.model: part for part in (Workers, Groups)}


def summarize(
    events: Iterable[Event], cluster: Cluster, jobs: Sequence[Job], clusters: Sequence[tuple[int, Cluster]] = ()
) -> dict[str, Any]:
    """The `metrics` of summary.json; times in ms, utility in the papers' unit, utilization as shares from 0 to 1.

    clusters: (start in ms, cluster) of each phase of an edited run, in order; the last one is `cluster`.
    """
    arrivals: dict[int, int] = {}
    completions: dict[int, int] = {}
    first_verdict: dict[int, str] = {}
    rejected: set[int] = set()
    futures = Futures()
    parts: dict[str, Part] = {}  # of the models of the phases
    turns: list[tuple[int, str | None]] = []
    packed = set(RESOURCES)
    utility = 0.0
    for event in events:
        data = event.data
        if event.kind == "run_started" or event.kind == "edited":
            packed &= packs(data)
            turns.append((event.at_ms, data["execution"]["model"] if "execution" in data else None))
            for model in PARTS.keys() & models(data):
                parts.setdefault(model, PARTS[model]())
        elif event.kind == "plan_changed":
            futures.feed(event)
        elif event.kind == "decided":
            first_verdict.setdefault(data["job"], data["kind"])
            if data["kind"] == "rejected":
                rejected.add(data["job"])
        elif event.kind == "job_arrived":
            arrivals[data["job"]] = event.at_ms
        elif event.kind == "job_completed":
            completions[data["job"]] = event.at_ms
            utility += data["utility"]
        for part in parts.values():
            part.feed(event)
    run = Played(clusters or [(0, cluster)], jobs, futures.matrix(), arrivals, completions, turns)
    times = np.array(list(run.times_ms.values()), dtype=np.int64)
    figures: dict[str, Any] = {
        "total_utility": utility if any(job.utility is not None for job in jobs) else None,
        "jobs": len(arrivals),
        "admitted": sum(kind in ("admitted", "started") for kind in first_verdict.values()),
        "rejected": len(rejected),
        "completed": len(completions),
        "mean_jct_ms": float(times.mean()) if len(times) else None,
        "median_jct_ms": float(np.median(times)) if len(times) else None,
        "p95_jct_ms": float(np.percentile(times, 95)) if len(times) else None,
        "makespan_ms": max(completions.values()) - min(arrivals.values()) if completions else None,
        "suspensions": _suspensions(run.bars),
        "utilization": _utilization(run.bars, run.clusters, jobs, run.first_ms, packed),
    }
    found = {part.name: part.figures(run) for part in parts.values()}
    return figures | {name: own for name, own in found.items() if own is not None}


def models(data: Mapping[str, Any]) -> set[str]:
    """Execution model from an event `run_started` or `edited` on.

    In older logs, which do not state it, it may be any.
    """
    return {data["execution"]["model"]} if "execution" in data else set(PARTS)


def _suspensions(bars: np.ndarray) -> int:
    """Suspensions of chunks, or of jobs without chunks."""
    workers = bars[bars[:, ROLE] == Role.WORKER]
    _, owner = np.unique(workers[:, [JOB, CHUNK]], axis=0, return_inverse=True)
    return suspensions(owner, workers)


def packs(data: Mapping[str, Any]) -> set[str]:
    """Resources that are counted from an event `run_started` or `edited` on; older logs do not state them."""
    return set(data["execution"]["packs"]) if "execution" in data else set(RESOURCES)


def _utilization(
    bars: np.ndarray,
    clusters: Sequence[tuple[int, Cluster]],
    jobs: Sequence[Job],
    first_ms: int,
    packed: Container[str],
) -> dict[str, float | None]:
    bars = bars[(bars[:, SERVER] >= 0) & (bars[:, ROLE] != Role.TRANSFER)]
    if not len(bars):
        return dict.fromkeys(RESOURCES)
    zero = (0,) * len(RESOURCES)
    # [job, role, resource]; the bars of transfers have been removed above
    demands = np.array([[job.worker or zero, job.ps or zero, zero, job.worker or zero] for job in jobs], dtype=float)
    demands[:, Role.SUSPENDED, RESOURCES.index("cpu")] = 0
    counted_ms = bars[:, END] - bars[:, START] - unavailable_ms(bars, clusters)
    held = (bars[:, COUNT] * counted_ms)[:, None] * demands[bars[:, JOB], bars[:, ROLE]]
    return shares(held.sum(axis=0), offered(clusters, first_ms, int(bars[:, END].max())), packed)


def unavailable_ms(bars: np.ndarray, clusters: Sequence[tuple[int, Cluster]]) -> np.ndarray:
    """[bar] time in which its server was unavailable; only on real clusters are there bars on such servers."""
    found = np.zeros(len(bars), dtype=np.int64)
    if not len(bars) or not any(server.away for _, cluster in clusters for server in cluster.servers):
        return found
    order = np.argsort(bars[:, SERVER], kind="stable")
    ends = [begin for begin, _ in clusters[1:]] + [int(bars[:, END].max())]
    for (begin_ms, cluster), end_ms in zip(clusters, ends, strict=True):
        places = np.searchsorted(bars[order, SERVER], np.arange(len(cluster.servers) + 1))
        for server, (first, last) in enumerate(pairwise(places)):
            rows = order[first:last]
            for gone_ms, back_ms in cluster.servers[server].away if len(rows) else ():
                from_ms, to_ms = max(gone_ms, begin_ms), min(back_ms, end_ms)
                found[rows] += np.maximum(
                    0, np.minimum(bars[rows, END], to_ms) - np.maximum(bars[rows, START], from_ms)
                )
    return found


def offered(clusters: Sequence[tuple[int, Cluster]], first_ms: int, last_ms: int) -> np.ndarray:
    """Capacity x time [resource] from first_ms to last_ms; an unavailable server has none.

    clusters: (start in ms, cluster) of each phase, in order.
    """
    total = np.zeros(len(RESOURCES))
    ends = [begin for begin, _ in clusters[1:]] + [last_ms]
    for (begin_ms, cluster), end_ms in zip(clusters, ends, strict=True):
        begin, end = max(begin_ms, first_ms), min(end_ms, last_ms)
        if begin >= end:
            continue
        for server in cluster.servers:
            total += np.array(server.capacity, dtype=float) * present_ms(server, begin, end)
    return total


def shares(held: np.ndarray, of: np.ndarray, packed: Container[str]) -> dict[str, float | None]:
    """Shares {resource: share}; None where there is none of it, or where it is not among those packed."""
    return {
        name: float(h / o) if o > 0 and name in packed else None for name, h, o in zip(RESOURCES, held, of, strict=True)
    }
