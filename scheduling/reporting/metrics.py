"""The metrics of a run, read from its events alone, the same way for all schedulers.

Their definitions are in metric_table.py, and the formulas of those that every run has in run_metrics.py. The part
`lanes` is computed in typed_workers/metrics.py, the part `groups` in colocation/metrics.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.colocation.metrics import Groups
from scheduling.kernel.realized_schedule import Futures
from scheduling.model.bars import ROLE, Role
from scheduling.model.held import Sizes, earlier_sizes_of, sizes_of
from scheduling.model.resizes import Resize, clusters_of
from scheduling.model.spans import suspensions
from scheduling.model.values import RESOURCES, ZERO, Cluster, Event, Job
from scheduling.reporting.parts import Part, Played
from scheduling.reporting.run_metrics import Known, run_metrics
from scheduling.typed_workers.metrics import Workers

PARTS: dict[str, type[Part]] = {part.model: part for part in (Workers, Groups)}


def summarize(
    events: Iterable[Event], cluster: Cluster, jobs: Sequence[Job], clusters: Sequence[tuple[int, Cluster]] = ()
) -> dict[str, Any]:
    """The `metrics` of summary.json; times in ms, utility in the papers' unit, utilization as shares from 0 to 1.

    clusters: (start in ms, cluster) of each phase of an edited run, in order; the last one is `cluster`. Of a run that
    has none, the events state what was added to its cluster, and what was changed in it.
    """
    arrivals: dict[int, int] = {}
    completions: dict[int, int] = {}
    first_verdict: dict[int, str] = {}
    rejected: set[int] = set()
    futures = Futures()
    parts: dict[str, Part] = {}  # of the models of the phases
    turns: list[tuple[int, str | None]] = []
    resizes: list[Resize] = []
    packed: list[tuple[int, set[str]]] = []
    utility = 0.0
    for event in events:
        data = event.data
        if event.kind == "run_started" or event.kind == "edited":
            packed.append((event.at_ms, packs(data)))
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
        elif event.kind == "server_added" or (event.kind == "server_set" and "was" in data):
            resizes.append(Resize(event.at_ms, data["server"], data.get("was")))
        for part in parts.values():
            part.feed(event)
    run = Played(clusters or clusters_of(cluster, resizes), jobs, futures.matrix(), arrivals, completions, turns)
    known = Known(
        utility if any(job.utility is not None for job in jobs) else None,
        sum(kind in ("admitted", "started") for kind in first_verdict.values()),
        len(rejected),
        _times(arrivals), _times(completions), _times(run.times_ms),
        int(suspensions(run.bars[run.bars[:, ROLE] == Role.WORKER], len(jobs)).sum()), run.bars, _sizes(jobs),
    )  # fmt: skip
    found = {part.name: part.metrics(run) for part in parts.values()}
    return run_metrics(known, run.clusters, packed or [(0, set(RESOURCES))]) | {
        name: own for name, own in found.items() if own is not None
    }


def models(data: Mapping[str, Any]) -> set[str]:
    """Execution model from an event `run_started` or `edited` on.

    In older logs, which do not state it, it may be any.
    """
    return {data["execution"]["model"]} if "execution" in data else set(PARTS)


def packs(data: Mapping[str, Any]) -> set[str]:
    """Resources that are counted from an event `run_started` or `edited` on; older logs do not state them."""
    return set(data["execution"]["packs"]) if "execution" in data else set(RESOURCES)


def _times(of_jobs: Mapping[int, int]) -> np.ndarray:
    return np.array(list(of_jobs.values()), dtype=np.int64)


def _sizes(jobs: Sequence[Job]) -> Sizes:
    worker, ps = (
        np.array(rows, dtype=np.int64).reshape(-1, len(RESOURCES))
        for rows in ([job.worker or ZERO for job in jobs], [job.ps or ZERO for job in jobs])
    )
    return sizes_of(worker, ps, earlier_sizes_of(jobs))
