"""Metrics of schedulers of typed workers, from the realized bars.

Their definitions are in reporting/metric_table.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.kernel.plan_scopes import scope_of
from scheduling.model.bars import CHUNK, CLOUD, COUNT, END, JOB, ROLE, SERVER, START, WORKER_SLOT, Role
from scheduling.model.spans import suspensions
from scheduling.model.values import SITES, Cluster, Event, Job
from scheduling.reporting.parts import Part, Played, Stretch, present_ms
from scheduling.typed_workers import workers as typed

_WORKER, _TRANSFER = int(Role.WORKER), int(Role.TRANSFER)


class Workers(Part):
    """Collector of the part `lanes`, from the realized bars."""

    model = "typed_workers"
    name = "lanes"

    def __init__(self) -> None:
        self.planned = False  # some workers were

    def feed(self, event: Event) -> None:
        self.planned = self.planned or (event.kind == "plan_changed" and scope_of(event.data).of_workers)

    def metrics(self, run: Played) -> dict[str, Any] | None:
        """Times in ms, summed over chunks; shares from 0 to 1.

        Bars of phases of other models hold no typed worker, and a job alone takes another time there.
        """
        bars = run.bars[(run.bars[:, WORKER_SLOT] >= 0) | (run.bars[:, SERVER] == CLOUD)]
        if not self.planned and not len(bars):
            return None
        workers, transfers = bars[bars[:, ROLE] == _WORKER], bars[bars[:, ROLE] == _TRANSFER]
        of_jobs = run.bars[run.bars[:, ROLE] == _WORKER]
        upload_ms, exchange_ms = _uploads(workers, run.jobs), _exchange(workers, run.jobs)
        transfer_ms = int((transfers[:, END] - transfers[:, START]).sum())
        here = workers[workers[:, SERVER] >= 0]
        return {
            "job_suspensions": int(suspensions(of_jobs, len(run.jobs), of_chunks=False).sum()),
            "cloud_chunks": len(np.unique(workers[workers[:, SERVER] == CLOUD][:, [JOB, CHUNK]], axis=0)),
            **slowdowns(run.clusters, run.jobs, run.times_ms if run.only(self.model) else {}),
            "upload_ms": upload_ms, "transfer_ms": transfer_ms, "exchange_ms": exchange_ms,
            "communication_ms": upload_ms + transfer_ms + exchange_ms,
            **_busy(here, run.stretches(self.model, int(here[:, END].max(initial=run.first_ms)))),
        }  # fmt: skip


def _uploads(workers: np.ndarray, jobs: Sequence[Job]) -> int:
    total = 0
    chunked = workers[workers[:, CHUNK] >= 0]
    for job, _, server in np.unique(chunked[:, [JOB, CHUNK, SERVER]], axis=0).tolist():
        row = jobs[job]
        if server == CLOUD:
            total += row.cloud_upload_ms or 0
        elif row.upload_ms is not None:
            total += row.upload_ms[server]
    gangs = workers[(workers[:, CHUNK] < 0) & (workers[:, SERVER] == CLOUD)]  # their loads at the edge are transfers
    for job, count in np.unique(gangs[:, [JOB, COUNT]], axis=0).tolist():
        total += count * (jobs[job].cloud_upload_ms or 0)
    return total


def _exchange(workers: np.ndarray, jobs: Sequence[Job]) -> int:
    """Exchange time: 0 for jobs wholly in the cloud, else 2q/b of each worker's time, rounded to ms per job."""
    found, place = np.unique(workers[:, JOB], return_inverse=True)
    worked_ms, outside = np.zeros(len(found), np.int64), np.zeros(len(found), np.int64)
    np.add.at(worked_ms, place, (workers[:, END] - workers[:, START]) * workers[:, COUNT])
    np.add.at(outside, place, workers[:, SERVER] != CLOUD)
    total = 0
    for job, ms, edge in zip(found.tolist(), worked_ms.tolist(), outside.tolist(), strict=True):
        if edge and typed.impossible(jobs[job]) is None:
            times = typed.chunk_times(jobs[job])
            total += round(ms * (times.remote - times.local) / times.remote)
    return total


def slowdowns(
    clusters: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], times_ms: Mapping[int, int]
) -> dict[str, float | None]:
    """Mean, median and 95th percentile of the slowdown; times_ms: JCT of the jobs that completed.

    clusters: (start in ms, cluster) of each phase; a job is measured by the one in which it arrived.
    """
    begins = [begin for begin, _ in clusters]
    slots = [typed.slots_alone(begin, cluster) for begin, cluster in clusters]
    servers: dict[tuple[int, str | None], np.ndarray] = {}
    found = []
    for job, ms in times_ms.items():
        row = jobs[job]
        phase = max(0, bisect_right(begins, row.arrival_ms) - 1)
        if (key := (phase, row.worker_type)) not in servers:
            servers[key] = slots[phase].server[slots[phase].of(row.worker_type)]
        if typed.impossible(row) is None:
            _, cluster = clusters[phase]
            alone = typed.alone_ms(row, typed.uploads(row, servers[key]), cluster.unlimited_cloud)
            if alone is not None:
                found.append(ms / alone)
    if not found:
        return {"mean_slowdown": None, "median_slowdown": None, "p95_slowdown": None}
    median, p95 = np.percentile(found, [50, 95]).tolist()
    return {"mean_slowdown": float(np.mean(found)), "median_slowdown": median, "p95_slowdown": p95}


def _busy(workers: np.ndarray, stretches: Sequence[Stretch]) -> dict[str, Any]:
    """Share of all workers' time in which they worked, by site and type, and the largest share that worked at once.

    Edits change the number of workers of a server, but neither the types that servers declare nor the site of one.
    """
    if not len(workers) or not stretches:
        return {"busy": {}, "mean_busy": None, "peak_busy": None}
    _, _, last = stretches[-1]
    worker_slots = typed.worker_slots(last, _WORKER)
    site = np.array([SITES.index(server.site) for server in last.servers])
    shape = (len(SITES), len(worker_slots.kinds))
    offered, used, peak = np.zeros(shape), np.zeros(shape), 0.0
    for begin, end, cluster in stretches:
        then = typed.worker_slots(cluster, _WORKER)
        present = np.array([present_ms(server, begin, end) for server in cluster.servers], dtype=float)
        np.add.at(offered, (site[then.server], then.kind), present[then.server])
        there = int((present[then.server] > 0).sum())
        peak = max(peak, _most_at_once(workers, begin, end) / there if there else 0.0)
    if not offered.any():
        return {"busy": {}, "mean_busy": None, "peak_busy": None}
    worked = (workers[:, END] - workers[:, START]).astype(float)
    np.add.at(used, (site[workers[:, SERVER]], _kind_of(workers, worker_slots)), worked)
    busy = {
        name: {kind: float(used[s, k] / offered[s, k]) for k, kind in enumerate(worker_slots.kinds) if offered[s, k]}
        for s, name in enumerate(SITES)
        if offered[s].any()
    }
    return {"busy": busy, "mean_busy": float(used.sum() / offered.sum()), "peak_busy": peak}


def _kind_of(workers: np.ndarray, worker_slots: typed.WorkerSlots) -> np.ndarray:
    """[bar] place of the type of its worker; where none is declared there is one type."""
    if worker_slots.kinds == (typed.ANY,):
        return np.zeros(len(workers), dtype=np.int64)
    first = np.searchsorted(worker_slots.server, workers[:, SERVER])
    return np.asarray(worker_slots.kind[first + workers[:, WORKER_SLOT]])


def _most_at_once(workers: np.ndarray, begin: int, end: int) -> int:
    """Largest number of bars at one time of [begin, end)."""
    own = workers[(workers[:, START] < end) & (workers[:, END] > begin)]
    if not len(own):
        return 0
    times = np.concatenate([np.maximum(own[:, START], begin), np.minimum(own[:, END], end)])
    change = np.repeat([1, -1], len(own))
    order = np.lexsort((change, times))  # at one time, what ends goes first
    return int(np.cumsum(change[order]).max())
