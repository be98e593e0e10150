"""DRF, dominant resource fairness (Ghodsi et al., NSDI 2011), the baseline of OASiS and PD-ORS that Yarn and Mesos use.

Whenever a job has arrived or completed, or a server becomes available or unavailable, all resources are shared again by
progressive filling from the empty cluster: the job whose dominant share (the largest share that it has of any resource)
is lowest gets one more worker, with a parameter server when the number of workers asks for one. A job for which there
is no room any more, or that has all workers it can use, drops out of the filling. No weights; ties go to the job that
arrived first.

Follows the papers' descriptions. No job that could run is rejected; a job that the horizon cuts off is worth nothing.
Ours: the round-robin pointers start at the first server in every filling, so that unaffected jobs stay in place; a
dominant share is relative to the available servers; a job has at most MAX_WORKERS workers.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from scheduling.model.decision import Reason, Verdict
from scheduling.model.values import RESOURCES
from scheduling.slotted.gangs.packing import WORKER, Packing, Units, as_units, workers_of
from scheduling.slotted.gangs.rates import Shape
from scheduling.slotted.reallocation import MAX_WORKERS, ReallocatingScheduler


class Drf(ReallocatingScheduler):
    """DRF with a heap of dominant shares."""

    name = "drf"
    title = "DRF"
    paper = "Ghodsi et al.: Dominant Resource Fairness, NSDI 2011"
    summary = (
        "Repeatedly gives one worker to the job with the smallest dominant share; "
        "reallocates at each arrival and completion."
    )

    def allocate(self, now_ms: int, slot: int) -> tuple[Mapping[int, Units], Sequence[Verdict]]:
        packing, total = Packing(self.servers), self.servers.total
        full = packing.full[WORKER]
        held: dict[int, dict[tuple[int, int], int]] = {}  # of jobs that get workers: most of a long queue get none
        workers: dict[int, int] = {}
        rows: dict[int, list[tuple[int, int, int, int]]] = {}
        heap = [(0.0, job) for job in sorted(self.shapes)]
        while heap:
            _, job = heap[0]
            shape = self.shapes[job]
            if shape.worker in full:
                heapq.heappop(heap)
                continue
            count, own = workers.get(job, 0), held.get(job) or {}
            if count == min(shape.most, MAX_WORKERS) or not packing.grow(shape, own, count):
                heapq.heappop(heap)
                continue
            if not count:
                held[job], rows[job] = own, self._demands(job, total)
            workers[job] = count + 1
            heapq.heapreplace(heap, (_dominant(rows[job], shape, count + 1)[0], job))
        return {job: as_units(held[job]) for job in self.shapes if job in held}, ()

    def why(self, job: int, kind: str, units: Units) -> Reason:
        workers, shape = workers_of(units), self.shapes[job]
        share, resource = _dominant(self._demands(job, self.servers.total), shape, workers)
        values = {"workers": workers, "ps": shape.ps_of(workers), "jobs": len(self.shapes)}
        if kind == "preempted":
            return Reason("no_share", values)
        return Reason("fair_share", values | {"share": share, "resource": RESOURCES[resource]})

    def _demands(self, job: int, total: Sequence[int]) -> list[tuple[int, int, int, int]]:
        """Amounts of each resource that the job requests: (resource, per worker, per parameter server, in total)."""
        row = self.jobs[job]
        assert row.worker is not None
        assert row.ps is not None
        wanted = ((r, row.worker[r], row.ps[r], total[r]) for r in self.servers.limited)
        return [(r, worker, ps, amount) for r, worker, ps, amount in wanted if amount and (worker or ps)]


def _dominant(demands: Sequence[tuple[int, int, int, int]], shape: Shape, workers: int) -> tuple[float, int]:
    """Dominant share and its resource.

    Equal shares are equal to the bit, since both parts of the quotient are integers.
    """
    ps = shape.ps_of(workers)
    share, resource = 0.0, 0
    for r, worker, server, total in demands:
        own = (workers * worker + ps * server) / total
        if own > share:
            share, resource = own, r
    return share, resource
