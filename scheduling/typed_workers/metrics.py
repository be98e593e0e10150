"""Metrics of schedulers of typed workers, from the realized bars.

Their definitions are in reporting/metric_table.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.model.values import CLOUD, SITES, Cluster, Event, Job, Role
from scheduling.reporting.parts import Part, Played
from scheduling.typed_workers import workers as typed
from scheduling.typed_workers.spans import union

_WORKER, _TRANSFER = int(Role.WORKER), int(Role.TRANSFER)


class Workers(Part):
    """Collector of the part `lanes`, from the realized bars."""

    model = "typed_workers"
    name = "lanes"

    def __init__(self) -> None:
        self.planned = False  # some workers were

    def feed(self, event: Event) -> None:
        self.planned = self.planned or (event.kind == "plan_changed" and event.data["scope"] == "worker")

    def figures(self, run: Played) -> dict[str, Any] | None:
        bars = run.bars
        if self.planned or (bars[:, 6] >= 0).any() or (bars[:, 2] == CLOUD).any():
            return of_lanes(bars, run.cluster, run.jobs, run.times_ms, run.first_ms)
        return None


def of_lanes(
    bars: np.ndarray, cluster: Cluster, jobs: Sequence[Job], times_ms: Mapping[int, int], first_ms: int
) -> dict[str, Any]:
    """The part `lanes` of the metrics: times in ms, summed over chunks; shares from 0 to 1.

    bars: int64 [bar, 9]. times_ms: JCT of the jobs that completed. first_ms: the first arrival.
    """
    workers, transfers = bars[bars[:, 1] == _WORKER], bars[bars[:, 1] == _TRANSFER]
    upload_ms, exchange_ms = _uploads(workers, jobs), _exchange(workers, jobs)
    transfer_ms = int((transfers[:, 4] - transfers[:, 3]).sum())
    return {
        "job_suspensions": suspensions(workers[:, 0], workers),
        "cloud_chunks": len(np.unique(workers[workers[:, 2] == CLOUD][:, [0, 7]], axis=0)),
        **slowdowns(cluster, jobs, times_ms),
        "upload_ms": upload_ms, "transfer_ms": transfer_ms, "exchange_ms": exchange_ms,
        "communication_ms": upload_ms + transfer_ms + exchange_ms,
        **_busy(workers[workers[:, 2] >= 0], cluster, first_ms),
    }  # fmt: skip


def suspensions(owner: np.ndarray, workers: np.ndarray) -> int:
    """Number of times at which the owner of bars stopped and ran again later. owner: [bar] a number for each."""
    spans = union(owner, workers[:, 3], workers[:, 4])
    return len(spans.job) - len(np.unique(spans.job))


def _uploads(workers: np.ndarray, jobs: Sequence[Job]) -> int:
    total = 0
    chunked = workers[workers[:, 7] >= 0]
    for job, _, server in np.unique(chunked[:, [0, 7, 2]], axis=0).tolist():
        row = jobs[job]
        if server == CLOUD:
            total += row.cloud_upload_ms or 0
        elif row.upload_ms is not None:
            total += row.upload_ms[server]
    gangs = workers[(workers[:, 7] < 0) & (workers[:, 2] == CLOUD)]  # their loads at the edge are transfers
    for job, count in np.unique(gangs[:, [0, 5]], axis=0).tolist():
        total += count * (jobs[job].cloud_upload_ms or 0)
    return total


def _exchange(workers: np.ndarray, jobs: Sequence[Job]) -> int:
    """Exchange time: 0 for jobs wholly in the cloud, else 2q/b of each worker's time, rounded to ms per job."""
    found, place = np.unique(workers[:, 0], return_inverse=True)
    worked_ms, outside = np.zeros(len(found), np.int64), np.zeros(len(found), np.int64)
    np.add.at(worked_ms, place, (workers[:, 4] - workers[:, 3]) * workers[:, 5])
    np.add.at(outside, place, workers[:, 2] != CLOUD)
    total = 0
    for job, ms, edge in zip(found.tolist(), worked_ms.tolist(), outside.tolist(), strict=True):
        if edge and typed.impossible(jobs[job]) is None:
            times = typed.chunk_times(jobs[job])
            total += round(ms * (times.remote - times.local) / times.remote)
    return total


def slowdowns(cluster: Cluster, jobs: Sequence[Job], times_ms: Mapping[int, int]) -> dict[str, float | None]:
    """Mean, median and 95th percentile of the slowdown; times_ms: JCT of the jobs that completed."""
    lanes = typed.lanes(cluster, _WORKER)
    servers: dict[str | None, np.ndarray] = {}
    found = []
    for job, ms in times_ms.items():
        row = jobs[job]
        if row.worker_type not in servers:
            servers[row.worker_type] = lanes.server[lanes.of(row.worker_type)]
        if typed.impossible(row) is None:
            alone = typed.alone_ms(row, typed.uploads(row, servers[row.worker_type]), cluster.unlimited_cloud)
            if alone is not None:
                found.append(ms / alone)
    if not found:
        return {"mean_slowdown": None, "median_slowdown": None, "p95_slowdown": None}
    median, p95 = np.percentile(found, [50, 95]).tolist()
    return {"mean_slowdown": float(np.mean(found)), "median_slowdown": median, "p95_slowdown": p95}


def _busy(workers: np.ndarray, cluster: Cluster, first_ms: int) -> dict[str, Any]:
    """Share of all lanes' time in which they worked, by site and type, and the maximum number that worked at once."""
    lanes = typed.lanes(cluster, _WORKER)
    if not len(workers) or not len(lanes.server):
        return {"busy": {}, "mean_busy": None, "peak_busy": None}
    last_ms = int(workers[:, 4].max())
    present = np.array([_present(server.away, first_ms, last_ms) for server in cluster.servers], dtype=float)
    site = np.array([SITES.index(server.site) for server in cluster.servers])
    sizes = np.bincount(lanes.server, minlength=len(cluster.servers))
    of_bar = (np.cumsum(sizes) - sizes)[workers[:, 2]] + workers[:, 6]
    worked = (workers[:, 4] - workers[:, 3]).astype(float)
    shape = (len(SITES), len(lanes.kinds))
    offered, used = np.zeros(shape), np.zeros(shape)
    np.add.at(offered, (site[lanes.server], lanes.kind), present[lanes.server])
    np.add.at(used, (site[workers[:, 2]], lanes.kind[of_bar]), worked)
    busy = {
        name: {kind: float(used[s, k] / offered[s, k]) for k, kind in enumerate(lanes.kinds) if offered[s, k]}
        for s, name in enumerate(SITES)
        if offered[s].any()
    }
    times, change = np.concatenate([workers[:, 3], workers[:, 4]]), np.repeat([1, -1], len(workers))
    order = np.lexsort((change, times))  # at one time, what ends goes first
    peak = int(np.cumsum(change[order]).max())
    return {"busy": busy, "mean_busy": float(used.sum() / offered.sum()), "peak_busy": peak / len(lanes.server)}


def _present(away: Sequence[tuple[int, int]], first_ms: int, last_ms: int) -> int:
    """Availability of the server in ms."""
    return last_ms - first_ms - sum(max(0, min(end, last_ms) - max(begin, first_ms)) for begin, end in away)
