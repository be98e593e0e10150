"""Effects of edits over time: available capacity and arrivals, with and without the edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.limits import MAX_INT
from scheduling.model.values import CPU, GPU, RESOURCES, Job
from twin.files.stored_jobs import StoredJobs
from twin.scenarios.edits import Edit, phases
from twin.scenarios.edits.base import ScenarioState

BINS = 60  # of the arrivals
MIN_SPAN_MS = 3_600_000  # shortest time that is shown


def curves(base: ScenarioState, edits: Sequence[Edit]) -> dict[str, Any]:
    """{to_ms, resource, capacity: {before, after: [[at_ms, amount]]}, arrivals: {before, after: [interval]}}.

    capacity: steps, each with the time from which its amount holds; arrivals: jobs in each of BINS equal intervals.

    resource: GPU, or vCPU of a cluster without GPUs. amount: of the servers that are available, in whole units.
    """
    before, after = phases(base, []), phases(base, edits)
    final = after[-1].state
    arrivals = [_arrivals(base.jobs), _arrivals(final.jobs)]
    horizon = base.cluster.horizon_slots or 0
    ends = [MIN_SPAN_MS, horizon * base.cluster.slot_ms, *(edit.at_ms for edit in edits)]
    ends += [int(times[-1]) + 1 for times in arrivals if len(times)]
    ends += [end for server in final.cluster.servers for _, end in server.away if end < MAX_INT]
    to_ms = max(ends)
    resource = GPU if any(server.capacity[GPU] for server in base.cluster.servers) else CPU
    bins = [np.histogram(times, bins=BINS, range=(0, to_ms))[0].tolist() for times in arrivals]
    return {
        "to_ms": to_ms,
        "resource": RESOURCES[resource],
        "capacity": {
            "before": _capacity(before, resource, to_ms),
            "after": _capacity(after, resource, to_ms),
        },
        "arrivals": {"before": bins[0], "after": bins[1]},
    }


def _arrivals(jobs: Sequence[Job]) -> np.ndarray:
    """[job] ascending"""
    if isinstance(jobs, StoredJobs):
        return np.sort(jobs.table.columns.get("arrival_ms", np.empty(0, dtype=np.int64)))
    return np.sort(np.fromiter((job.arrival_ms for job in jobs), dtype=np.int64, count=len(jobs)))


def _capacity(stages: Sequence[Any], resource: int, to_ms: int) -> list[list[float]]:
    """[[at_ms, amount]] where the amount changes."""
    found: list[list[float]] = []
    for stage, following in zip(stages, [*stages[1:], None], strict=True):
        begin, end = stage.at_ms, following.at_ms if following else to_ms
        changes: dict[int, int] = {begin: 0}
        total = 0
        for server in stage.state.cluster.servers:
            amount = server.capacity[resource]
            total += amount
            for from_ms, until_ms in server.away:
                if until_ms > begin and from_ms < end:
                    changes[max(begin, from_ms)] = changes.get(max(begin, from_ms), 0) - amount
                    if until_ms < end:
                        changes[until_ms] = changes.get(until_ms, 0) + amount
        for at_ms, change in sorted(changes.items()):
            total += change
            if not found or found[-1][1] != total / 1000:
                found.append([at_ms, total / 1000])
    return found
