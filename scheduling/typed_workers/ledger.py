"""Ledger of typed workers: refuses bars that overlap, do not fit, or are on unavailable workers.

The counterpart of slotted/ledger.py for schedulers that place single workers. One worker holds one unit at a time: a
worker or, while a gang loads its data, a transfer, of a job of its type; or a parameter server of any job, since one of
another type may stand in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.kernel.ledger import Ledger, Overbooked
from scheduling.model.bars import CLOUD, Placement, Role
from scheduling.model.decision import WorkerPlan
from scheduling.model.values import Cluster, Job
from scheduling.typed_workers import workers as typed

_PS, _TRANSFER = int(Role.PS), int(Role.TRANSFER)
_NO_KIND = -1


class WorkerLedger(Ledger):
    """Ledger of two kinds of plans: of jobs, whose bars it keeps, and of workers, which replace earlier bars."""

    def __init__(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        super().__init__(cluster, jobs)
        self._worker_slots = [typed.worker_slots(cluster, role) for role in (0, 1)]
        count = len(cluster.servers)
        self._sizes = np.stack(
            [np.bincount(worker_slots.server, minlength=count) for worker_slots in self._worker_slots]
        )  # [role, server]
        self._firsts = np.cumsum(self._sizes, axis=1) - self._sizes
        workers = self._worker_slots[0]
        places = {kind: place for place, kind in enumerate(workers.kinds)}
        # [role][server][worker] place of its type
        self._types: list[list[list[int]]] = [[[] for _ in cluster.servers] for _ in (0, 1)]
        for own, worker_slots in zip(self._types, self._worker_slots, strict=True):
            for server, kind in zip(worker_slots.server.tolist(), worker_slots.kind.tolist(), strict=True):
                own[server].append(kind)
        self._kind = [places.get(workers.name(job.worker_type) or "", _NO_KIND) for job in jobs]  # of each job
        self._kinds = np.array(self._kind, dtype=np.int64)
        self._away = [(s, begin, end) for s, server in enumerate(cluster.servers) for begin, end in server.away]
        # worker -> (start, end, job) that have not ended
        self._held: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}

    def replace_workers(self, now_ms: int, plan: WorkerPlan) -> None:
        """Check of the whole plan of some workers. Nothing else can be on them, so nothing has to be stored."""
        bars = plan.bars
        named = plan.workers.tolist()
        if bars.dtype != np.int64 or bars.ndim != 2 or bars.shape[1] != len(Placement._fields):
            raise Overbooked(
                f"the bars of workers must be int64 [bar, {len(Placement._fields)}], got {bars.dtype} "
                f"{list(bars.shape)}"
            )
        for _, server, worker_slot in named:
            if server != CLOUD and not (0 <= server < self._sizes.shape[1] and worker_slot >= 0):
                raise Overbooked(
                    f"a plan names worker {worker_slot} of server {server}, which the cluster does not have"
                )
        if not len(bars):
            return
        job, role, server, start, end, count, worker_slot, _, _ = np.ascontiguousarray(
            bars.T
        )  # each rule reads whole columns
        self._hold(bars, (job >= 0) & (job < len(self._jobs)), f"must name one of {len(self._jobs):,} jobs")
        self._hold(bars, (role >= 0) & (role <= _TRANSFER), f"must have a role from 0 to {_TRANSFER}")
        self._hold(bars, (start >= now_ms) & (end > start), f"must start at or after now ({now_ms} ms) and end later")
        if self._horizon_ms is not None:
            self._hold(bars, end <= self._horizon_ms, f"must end by the horizon ({self._horizon_ms} ms)")
        cloud = server == CLOUD
        if not self._cluster.unlimited_cloud:
            self._hold(bars, ~cloud, "must be on a server of the cluster")
        self._hold(
            bars, cloud | ((server >= 0) & (server < self._sizes.shape[1])), "must be on a server of the cluster"
        )
        ps = (role == _PS).astype(np.int64)
        at = np.where(cloud, 0, server)
        self._hold(
            bars,
            cloud | ((worker_slot >= 0) & (worker_slot < self._sizes[ps, at])),
            "must be on a worker of its server",
        )
        self._hold(bars, count == 1, "must have a count of 1, like every worker")
        worker = ~cloud & (ps == 0)
        kinds = np.full(len(bars), _NO_KIND)
        kinds[worker] = self._worker_slots[0].kind[(self._firsts[0][at] + worker_slot)[worker]]
        self._hold(bars, ~worker | (kinds == self._kinds[job]), "must be on a worker of the job's type")
        places = self._code(ps, server, np.where(cloud, job, worker_slot))
        known = np.sort(self._code(*plan.workers.T))
        if not len(known) or not (known[np.minimum(np.searchsorted(known, places), len(known) - 1)] == places).all():
            raise Overbooked(f"a plan has bars on workers that it does not name: {len(named):,} named")
        order = np.lexsort((start, places))
        order = order[~cloud[order]]
        apart = np.ones(len(bars), dtype=bool)
        apart[order[1:]] = (places[order[1:]] != places[order[:-1]]) | (start[order[1:]] >= end[order[:-1]])
        self._hold(bars, apart, "overlaps another bar on its worker")
        for s, begin, back in self._away:
            self._hold(
                bars,
                (server != s) | (end <= begin) | (start >= back),
                f"is on a server that is unavailable from {begin} to {back} ms",
            )

    def _code(self, ps: np.ndarray, server: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Number of each worker; place: the worker, or the job on the cloud."""
        return (place * 2 + ps) * (self._sizes.shape[1] - CLOUD) + server - CLOUD

    def forget(self, job: int) -> None:
        for bar in self._plans.pop(job, ()):
            self._free(bar)

    def _check_place(self, bar: Placement) -> None:
        """Check of the worker, its type, and the outages of its server."""
        job, role, server, start_ms, end_ms, count, worker_slot, _, _ = bar
        if server == CLOUD and self._cluster.unlimited_cloud:
            if count < 1:
                self._refuse(bar, "must have a count >= 1")
            return
        types = self._types[role == _PS]
        if not 0 <= server < len(types):
            self._refuse(bar, "must be on a server of the cluster")
        if not 0 <= worker_slot < len(types[server]) or count != 1:
            self._refuse(bar, "must be on one worker of its server")
        if role != _PS and types[server][worker_slot] != self._kind[job]:
            self._refuse(bar, "must be on a worker of the job's type")
        for s, begin, back in self._away:
            if s == server and start_ms < back and end_ms > begin:
                self._refuse(bar, f"is on a server that is unavailable from {begin} to {back} ms")

    def _take(self, now_ms: int, bar: Placement) -> None:
        if bar.server < 0:
            return
        held = self._held.setdefault((int(bar.role == _PS), bar.server, bar.worker_slot), [])
        if held and held[0][1] <= now_ms:
            held[:] = [item for item in held if item[1] > now_ms]
        for start_ms, end_ms, job in held:
            if bar.start_ms < end_ms and bar.end_ms > start_ms and end_ms > now_ms:
                name = self._cluster.servers[bar.server].name
                raise Overbooked(
                    f"job {self._jobs[bar.job].id}: worker {bar.worker_slot} of server {name} is held by job "
                    f"{self._jobs[job].id} in [{max(start_ms, bar.start_ms)}, {min(end_ms, bar.end_ms)}) ms"
                )
        held.append((bar.start_ms, bar.end_ms, bar.job))

    def _give(self, now_ms: int, bar: Placement) -> None:
        self._free(bar)

    def _free(self, bar: Placement) -> None:
        if bar.server < 0:
            return
        held = self._held.get((int(bar.role == _PS), bar.server, bar.worker_slot), [])
        if (bar.start_ms, bar.end_ms, bar.job) in held:
            held.remove((bar.start_ms, bar.end_ms, bar.job))

    def _hold(self, bars: np.ndarray, rule: np.ndarray, text: str) -> None:
        if not rule.all():
            self._refuse(Placement(*bars[int(np.argmin(rule))].tolist()), text)
