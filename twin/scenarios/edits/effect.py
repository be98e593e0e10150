"""Effects of edits in numbers, shown while a form is edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scheduling.model.values import RESOURCES, Cluster, Job
from twin.scenarios.edits.base import ScenarioState


def effect(before: ScenarioState, after: ScenarioState) -> dict[str, Any]:
    """{servers, capacity: {resource: share}, away, cloud, jobs_added, jobs_dropped, jobs_touched, scheduler}.

    Keys without change are absent.

    capacity: relative growth of the whole cluster, e.g. 0.12; away: servers with additional outages.
    """
    found: dict[str, Any] = {}
    if len(after.cluster.servers) != len(before.cluster.servers):
        found["servers"] = len(after.cluster.servers) - len(before.cluster.servers)
    capacity = _growth(_total(before.cluster), _total(after.cluster))
    if capacity:
        found["capacity"] = capacity
    lost = _away(before.cluster, after.cluster)
    if lost:
        found["away"] = lost
    if before.cluster.unlimited_cloud != after.cluster.unlimited_cloud:
        found["cloud"] = after.cluster.unlimited_cloud
    found |= _jobs(before, after) if before.jobs is not after.jobs else {}
    if (before.scheduler, dict(before.parameters)) != (after.scheduler, dict(after.parameters)):
        found["scheduler"] = after.scheduler
    return found


def _jobs(before: ScenarioState, after: ScenarioState) -> dict[str, int]:
    old, new = ({job.id: job for job in state.jobs} for state in (before, after))
    both = {server.name for server in before.cluster.servers} & {server.name for server in after.cluster.servers}
    kept_before, kept_after = (
        [i for i, server in enumerate(state.cluster.servers) if server.name in both] for state in (before, after)
    )
    counts = {
        "jobs_added": len(new.keys() - old.keys()),
        "jobs_dropped": len(old.keys() - new.keys()),
        "jobs_touched": sum(
            1
            for id_, job in new.items()
            if (was := old.get(id_)) is not None and was is not job and _at(was, kept_before) != _at(job, kept_after)
        ),
    }
    return {name: count for name, count in counts.items() if count}


def _at(job: Job, places: Sequence[int]) -> Job:
    """The job with its upload times to these servers only: a server that is added does not change the job."""
    return job if job.upload_ms is None else replace(job, upload_ms=tuple(job.upload_ms[i] for i in places))


def _total(cluster: Cluster) -> np.ndarray:
    return (
        np.array([server.capacity for server in cluster.servers], dtype=np.int64)
        .reshape(-1, len(RESOURCES))
        .sum(axis=0)
    )


def _growth(before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """Relative growth by resource; a new resource grows by 1."""
    shares = {
        name: (float(b - a) / float(a) if a else 1.0)
        for name, a, b in zip(RESOURCES, before, after, strict=True)
        if a != b
    }
    return {name: round(share, 4) for name, share in shares.items()}


def _away(before: Cluster, after: Cluster) -> int:
    """Number of servers with additional outages. That of an added server before it comes does not count."""
    known = {server.name: server.away for server in before.servers}
    return sum(
        1
        for server in after.servers
        if server.away != known.get(server.name, tuple(span for span in server.away if span[0] == 0))
    )
