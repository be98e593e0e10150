"""Conservative backfilling: every waiting job has a reservation (Mu'alem and Feitelson, IEEE TPDS 12(6), 2001).

On arrival a job gets the earliest time at which its gang is free for its whole estimate, besides all jobs that run or
have a reservation. When capacity is freed before it was expected, each job in the order of the queue gets an earlier
time if there is one. So no job ever starts later than first reserved, as long as no job outlives its estimate and no
server leaves; then all jobs get new reservations.

Ours: jobs need amounts of several resources on servers instead of processors of one pool, and start when a slot begins:
the slot is the scheduling cycle. A job that would exceed a quota, together with the running and the reserved jobs of
the same user or queue, has no reservation until it no longer would.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision
from scheduling.model.values import Cluster, Job
from scheduling.slotted.availability import Availability, Demands
from scheduling.slotted.backfill_lines import Starts
from scheduling.slotted.backfilling import BackfillParameters, BackfillScheduler, sentences
from scheduling.slotted.gang_queue import Units


@dataclass(frozen=True, slots=True)
class ConservativeParameters(BackfillParameters):
    depth: int = parameter(
        100,
        "Number of jobs at the head of the queue that may get an earlier reservation when a job ends early",
        low=1,
        high=1_000_000,
        title="Rescheduling depth",
    )


class Conservative(BackfillScheduler):
    """The queue, the reservations of its jobs, and what is free besides them."""

    name = "conservative"
    title = "Conservative backfilling"
    paper = (
        "Mu'alem and Feitelson: Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the "
        "IBM SP2 with Backfilling, IEEE TPDS 2001"
    )
    summary = "Reserves a start for every job on arrival; later jobs start earlier only if that delays no other job."
    reasons = sentences("conservative")
    Parameters = ConservativeParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        self.reserved: dict[int, tuple[int, Units]] = {}  # waiting job -> (slot, units)
        self.unreserved: set[int] = set()  # waiting jobs without a reservation
        self.next_starts: list[tuple[int, int]] = []  # (slot, job) of the same
        self.early = False  # capacity was freed before it was expected
        self.broken = False  # a server left or returned: all jobs get new reservations
        super().start(cluster, jobs, rng)
        self._rebuild(0)

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        self.broken = True
        return super().on_cluster_change(now_ms, server)

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        starts = Starts()
        self.available.move_to(slot)
        if self.extend_overdue(slot) or self.broken:
            self._reserve_anew(slot)
        elif self.early:
            self._reserve_earlier(now_ms, slot)
        without = self._ranked(self.unreserved if self.changed else self.fresh, now_ms)
        self.fresh, self.changed, self.early, self.broken = [], False, False, False
        for job in without:
            if not self.over_quota(job) and not self._reserve(job) and not self.away:
                self.reject(starts, job)
        while self.next_starts and self.next_starts[0][0] <= slot:
            self._begin_reserved(starts, now_ms, self.next_starts[0][1])
        wake_ms = self.next_starts[0][0] * self.cluster.slot_ms if self.next_starts else None
        return replace(starts.decision(), wake_ms=wake_ms) if starts.verdicts or wake_ms is not None else NOTHING

    def join(self, job: int) -> None:
        super().join(job)
        self.unreserved.add(job)

    def leave(self, job: int) -> None:
        super().leave(job)
        self.unreserved.discard(job)

    def release(self, now_ms: int, job: int) -> Units:
        until, units, slot = self.until[job], super().release(now_ms, job), -(-now_ms // self.cluster.slot_ms)
        if until > slot:
            self.available.take(self._demands(job), units, slot, until, sign=1)
            self.early = True
        return units

    def over_quota(self, job: int) -> bool:
        """True if the quota is used up; jobs with a reservation count as well."""
        if not self.quotas:
            return False
        held = dict(self.held)
        for other in self.reserved:
            for owner in self._owners(other):
                held[owner] = held.get(owner, 0) + self._amounts(self.gangs[other])
        return self._over(job, held) is not None

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "reserved": [[job, slot, units] for job, (slot, units) in sorted(self.reserved.items())],
            "early": self.early,
            "broken": self.broken,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.early, self.broken = bool(state["early"]), bool(state["broken"])
        self._rebuild(0)
        for job, slot, units in state["reserved"]:
            self._book(job, slot, [(role, server, count) for role, server, count in units])

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        super().adopt_plans(now_ms, before, kept)
        self.broken = True

    def _ranked(self, jobs: Iterable[int], now_ms: int) -> list[int]:
        """Waiting jobs in the order of the queue."""
        return [job for _, (_, job) in sorted((self.rank(self.line_of(job), now_ms), self.key(job)) for job in jobs)]

    def _first(self, now_ms: int) -> list[int]:
        """The first `depth` waiting jobs in the order of the queue."""
        lines = [(self.rank(line, now_ms), line.keys[: self.parameters.depth]) for line in self.lines.values()]
        ordered = heapq.merge(*([(rank, key) for key in keys] for rank, keys in lines))
        return [job for _, (_, job) in islice(ordered, self.parameters.depth)]

    def _reserve(self, job: int) -> bool:
        """Earliest reservation of a job, which is booked; False if it fits at no time."""
        found = self.available.earliest(self.gangs[job], self._demands(job), self.estimates[job])
        if found is not None:
            self._book(job, *found)
        return found is not None

    def _reserve_earlier(self, now_ms: int, slot: int) -> None:
        """Earlier reservations for the first jobs of the queue; none gets a later one."""
        for job in self._first(now_ms):
            if job in self.reserved and (before := self.reserved[job])[0] > slot:
                self._unbook(job)
                demands, slots = self._demands(job), self.estimates[job]
                self._book(job, *(self.available.earliest(self.gangs[job], demands, slots, before[0]) or before))

    def _reserve_anew(self, slot: int) -> None:
        """Removal of all reservations."""
        self.unreserved |= self.reserved.keys()
        self.reserved, self.next_starts, self.changed = {}, [], True
        self._rebuild(slot)

    def _rebuild(self, slot: int) -> None:
        """Availability of servers over time, computed from the running jobs and the available servers."""
        self.available = Availability(self.cluster, self.limits, 0)
        for server in self.away:
            self.available.remove(server)
        for job, units in self.running.items():
            self.available.take(self._demands(job), units, self.begun[job] // self.cluster.slot_ms, self.until[job])
        self.available.move_to(slot)

    def _book(self, job: int, slot: int, units: Units) -> None:
        self.unreserved.discard(job)
        self.reserved[job] = slot, units
        insort(self.next_starts, (slot, job))
        self.available.take(self._demands(job), units, slot, slot + self.estimates[job])

    def _unbook(self, job: int) -> None:
        slot, units = self.reserved.pop(job)
        del self.next_starts[bisect_left(self.next_starts, (slot, job))]
        self.available.take(self._demands(job), units, slot, slot + self.estimates[job], sign=1)

    def _begin_reserved(self, starts: Starts, now_ms: int, job: int) -> None:
        """Start of a job on its reserved units: what is reserved for it becomes what it holds."""
        _, units = self.reserved.pop(job)
        self.next_starts.pop(0)
        self.packing.take(self.gangs[job].shape, units)
        first = min(line.keys[0] for line in self.lines.values())[1]
        if first == job:
            self.begin(starts, now_ms, job, units, "in_turn")
        else:
            self.begin(starts, now_ms, job, units, "backfilled", reserved=self.jobs[first].id)

    def _demands(self, job: int) -> Demands:
        row = self.jobs[job]
        assert row.worker is not None
        assert row.ps is not None
        return row.worker, row.ps
