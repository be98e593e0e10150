"""EASY backfilling: the queue in its order, with a reservation for its first job (Lifka 1995; Mu'alem, Feitelson 2001).

Jobs start in their order while they fit. The first one that does not fit gets a reservation: the earliest time at which
it fits if running jobs end as estimated, and the servers that it will have then. A later job may start now if its
estimate ends by then, or if it leaves the reserved capacity free. So the reserved job never starts later than reserved,
as long as no job outlives its estimate.

Ours: jobs need amounts of several resources on servers instead of processors of one pool, and start when a slot begins:
the slot is the scheduling cycle. A reservation stays until capacity is freed or lost, or another job leads the queue.
Jobs that a quota holds back are passed over and get no reservation. Slurm backfills at intervals: where there is one,
jobs behind the reservation start only in the first slot of an interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.resource_vector import GUARD, lesser
from scheduling.model.decision import Decision
from scheduling.model.values import Cluster, Job
from scheduling.slotted.backfill_lines import Candidates, Starts, Walk
from scheduling.slotted.backfilling import FAIR_SHARE, BackfillParameters, BackfillScheduler, sentences
from scheduling.slotted.gang_queue import Units
from scheduling.slotted.gangs.packing import Packing


@dataclass(frozen=True, slots=True)
class EasyParameters(BackfillParameters):
    backfill_ms: int = parameter(
        0,
        "Time between two passes of backfilling; 0: every slot",
        low=0,
        high=86_400_000,
        unit="ms",
        title="Backfill interval",
    )


@dataclass
class Reservation:
    """Reserved start of the first job that does not fit.

    slot: None where no end of a running job makes it fit. spare: of each server, the packed amounts that are free at
    that slot besides the reservation.
    """

    job: int
    slot: int | None
    units: Units
    spare: list[int]


class Easy(BackfillScheduler):
    """The queue, and the reservation of its first job that does not fit."""

    name = "easy"
    title = "EASY backfilling"
    paper = "Lifka: The ANL/IBM SP Scheduling System, JSSPP 1995"
    summary = "Starts jobs in order; a later job starts earlier if that does not delay the first job that waits."
    reasons = sentences("easy")
    Parameters = EasyParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        self.reservation: Reservation | None = None
        self.beside: Packing | None = None  # of the current call, since the last start
        self.interval = max(1, self.parameters.backfill_ms // cluster.slot_ms)  # slots between two passes
        self.postponed = False  # jobs behind the reservation wait for the next pass
        super().start(cluster, jobs, rng)

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        starts, before, self.beside = Starts(), self.reservation, None
        walk = Walk(self._candidates(now_ms, slot), self.estimates)
        passes = slot % self.interval == 0
        self.postponed = self.postponed and not passes
        while (job := walk.next()) is not None:
            if self.over_quota(job):
                continue
            if self.reservation is not None and not passes:
                self.postponed = True
                break
            if self.reservation is not None:
                self._backfill(starts, walk, now_ms, slot, job)
            elif (units := self.place(self.gangs[job]) or self._as_reserved(job, before)) is not None:
                self.begin(starts, now_ms, job, units, "in_turn")
            elif (reservation := self._reserve(job, before)) is not None:
                self.reservation = reservation
                walk.leave_line()
            else:
                self.reject(starts, job)
        decision, left = starts.decision(), self.interval - slot % self.interval
        return replace(decision, wake_ms=now_ms + left * self.cluster.slot_ms) if self.postponed else decision

    def state(self) -> dict[str, Any]:
        kept = self.reservation
        return super().state() | {
            "reservation": None if kept is None else [kept.job, kept.slot, kept.units],
            "postponed": self.postponed,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.postponed = bool(state.get("postponed"))
        if state["reservation"] is not None:
            job, slot, units = state["reservation"]
            self.reservation = self._at(job, slot, [(role, server, count) for role, server, count in units])

    def _candidates(self, now_ms: int, slot: int) -> list[Candidates]:
        """The jobs that may start, by line; with a new reservation unless only jobs behind it have come."""
        kept, fresh = self.reservation, [self.key(job) for job in self.fresh]
        overdue = self.extend_overdue(slot)
        due = self.postponed and slot % self.interval == 0
        same = kept is not None and not (self.changed or overdue or due or self.parameters.order == FAIR_SHARE)
        self.fresh, self.changed = [], False
        if same and kept is not None and all(key > self.key(kept.job) for key in fresh):
            return [Candidates(0.0, [key], self.line_of(key[1])) for key in fresh]
        self.reservation = None
        return [Candidates(self.rank(line, now_ms), list(line.keys), line) for line in self.lines.values()]

    def _backfill(self, starts: Starts, walk: Walk, now_ms: int, slot: int, job: int) -> None:
        """Start of a job behind the reservation, if it does not delay it."""
        gang, kept = self.gangs[job], self.reservation
        assert kept is not None
        if kept.slot is None or slot + self.estimates[job] <= kept.slot:
            if (units := self.place(gang)) is None:
                if not walk.line.fits(self.packing):
                    walk.leave_line()
                return
        else:
            beside = self._beside(kept)
            if (units := self.place(gang, beside)) is None:
                if not walk.line.fits(beside):
                    walk.only(kept.slot - slot)
                return
            self.packing.positions = beside.positions
            self.packing.take(gang.shape, units)
            for server, amounts in gang.by_server(units):
                kept.spare[server] -= amounts
        self.beside = None
        self.begin(starts, now_ms, job, units, "backfilled", reserved=self.jobs[kept.job].id)

    def _beside(self, kept: Reservation) -> Packing:
        """Packing of the amounts that are free now and stay free beside the reservation."""
        if self.beside is None:
            both = self.beside = copy(self.packing)
            both.free = [lesser(now, later) for now, later in zip(self.packing.free, kept.spare, strict=True)]
            both.full, both.positions = (set(), set()), list(self.packing.positions)
        return self.beside

    def _as_reserved(self, job: int, before: Reservation | None) -> Units | None:
        """Units of the job's own reservation, if they are free; they are reserved.

        Units are placed one after another, so that workers can take the servers that parameter servers need.
        """
        if before is None or before.job != job or not before.units:
            return None
        gang = self.gangs[job]
        free = list(self.packing.free)
        for server, amounts in gang.by_server(before.units):
            free[server] -= amounts
            if free[server] & GUARD != GUARD:
                return None
        self.packing.free = free
        return before.units

    def _reserve(self, job: int, before: Reservation | None) -> Reservation | None:
        """Earliest reservation of a job that does not fit now; None if it does not fit the empty cluster."""
        gang = self.gangs[job]
        kept = self._at(job, before.slot, before.units) if before is not None and before.job == job else None
        later = _from_the_first_server(self.packing)
        for end, jobs in self.expected_ends():
            if kept is not None and kept.slot is not None and end >= kept.slot:
                return kept
            for other in jobs:
                later.put_back(self.gangs[other].shape, self.running[other])
            if (units := self.place(gang, later)) is not None:
                return Reservation(job, end, units, later.free)
        return Reservation(job, None, [], later.free) if self.away else None

    def _at(self, job: int, at: int | None, units: Units) -> Reservation | None:
        """The reservation of these units at that slot; None if they are not free then."""
        later = _from_the_first_server(self.packing)
        for end, jobs in self.expected_ends():
            for other in jobs if at is None or end <= at else ():
                later.put_back(self.gangs[other].shape, self.running[other])
        later.take(self.gangs[job].shape, units)
        return Reservation(job, at, units, later.free) if all(free & GUARD == GUARD for free in later.free) else None


def _from_the_first_server(packing: Packing) -> Packing:
    """Copy of the free amounts, so that a reservation does not depend on the pointers of the round robin."""
    later = copy(packing)
    later.free, later.full, later.positions = list(packing.free), (set(), set()), [0, 0]
    return later
