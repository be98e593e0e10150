"""Base of the schedulers that reallocate the servers of all jobs whenever something happens (DRF, RRH, Dorm, Themis).

A job holds servers for whole slots, until they are reallocated. DRF, Dorm and Themis give workers one by one, RRH only
whole gangs. Units are placed round robin: a pointer per role goes on to the next server where the unit fits. The work
that a job has done is kept when its allocation changes: worker-slots with the training model of OASiS, samples with
that of PD-ORS, where all units on one server are faster (Fact 1). Servers with outages (Server.away) are out of use in
every slot that an outage touches.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.admission import Room, impossible
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.training_models import (
    COMMON_NEEDS,
    EPSILON,
    TRAINING_MODELS,
    needs_of,
)
from scheduling.model.values import Cluster, Job
from scheduling.slotted.execution import Slotted
from scheduling.slotted.gangs.packing import Servers, Units, workers_of
from scheduling.slotted.gangs.rates import GangParameters, JobRates, Shape

MAX_WORKERS = 1_000  # that a scheduler gives one job; the papers' jobs can use at most 200


class ReallocatingScheduler(BaseScheduler, ABC):
    """Base class that keeps allocations. A subclass computes in `allocate` what each job holds from a slot on."""

    model = Slotted(supports=TRAINING_MODELS)
    Parameters = GangParameters
    needs: ClassVar[tuple[str, ...]] = COMMON_NEEDS  # and those of the training model (training_models.NEEDS)
    keeps_plans = believes = True

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.training = JobRates(self.model.training(self, cluster), cluster.slot_ms)
        self.limits = self.training.limits
        self.needed = needs_of(self.needs, self.training.name)
        self.room = Room(cluster, limits=self.limits)
        self.servers = Servers(cluster, self.training)
        self.shapes: dict[int, Shape] = {}  # of the jobs that are active: arrived, neither rejected nor completed
        self.held: dict[int, Units] = {}  # current allocations
        self.begun: dict[int, int] = {}  # slot in which the allocation began
        self.left: dict[int, float] = {}  # remaining work then, of every job that has ever had an allocation

    @abstractmethod
    def allocate(self, now_ms: int, slot: int) -> tuple[Mapping[int, Units], Sequence[Verdict]]:
        """Allocation of each active job from this slot on (others hold nothing), and the decisions to report before."""

    @abstractmethod
    def why(self, job: int, kind: str, units: Units) -> Reason:
        """Reason why a job is started, resumed or preempted."""

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        reason = impossible(self.jobs[job], self.needed, self.room, self.training.name)
        if reason is None:
            shape = self.training.shape(self.jobs[job])
            reason = self.cannot_start(job, shape)
        if reason is not None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        self.shapes[job] = shape
        return NOTHING

    def cannot_start(self, job: int, shape: Shape) -> Reason | None:
        """Reason why no allocation could ever start the job although each unit fits somewhere."""
        return None if self.servers.pairs(shape) else Reason("gang_fits_nowhere", {"workers": 1, "ps": shape.ps_of(1)})

    def on_completion(self, now_ms: int, job: int) -> Decision:
        for book in (self.shapes, self.held, self.begun, self.left):
            book.pop(job, None)
        return NOTHING

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """The job keeps its allocation until the horizon; the slot that begins now reallocates like a completion."""
        slot = now_ms // self.cluster.slot_ms
        self.servers.move_to(slot)
        self.left[job] = self.training.work_as(self.jobs[job], rest)
        finishes: dict[int, int] = {}
        over = self.cluster.horizon_slots is not None and slot >= self.cluster.horizon_slots
        if over or not all(self.servers.open[server] for _, server, _ in self.held[job]):
            del self.held[job], self.begun[job]
            return Decision({job: []})
        self.begun[job] = slot
        return Decision({job: self._bars(job, self.held[job], slot, self.left[job], finishes)}, finishes)

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        if not self.shapes:
            return NOTHING
        self.servers.move_to(slot)
        allocations, early = self.allocate(now_ms, slot)
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        verdicts = list(early)
        for job in sorted({*self.held, *allocations}):
            before, after = self.held.get(job), allocations.get(job)
            if before == after:
                continue
            known = job in self.left
            left = self._left_at(job, slot)
            if after is None:
                del self.held[job], self.begun[job]
                self.left[job] = left
                plan[job] = []
                verdicts.append(Verdict(job, "preempted", self._why_stopped(job, before or ())))
                continue
            self.held[job], self.begun[job], self.left[job] = after, slot, left
            plan[job] = self._bars(job, after, slot, left, finishes)
            if before is None:
                kind = "resumed" if known else "started"
                verdicts.append(Verdict(job, kind, self.why(job, kind, after)))
        change = self.servers.next_change
        wake_ms = change * self.cluster.slot_ms if change is not None else None
        return (
            Decision(plan, finishes, tuple(verdicts), wake_ms) if plan or verdicts or wake_ms is not None else NOTHING
        )

    def _left_at(self, job: int, slot: float) -> float:
        """Work left of an active job at the beginning of the slot."""
        left = self.left.get(job)
        if left is None:
            return self.training.work(self.jobs[job])
        units = self.held.get(job)
        return left if units is None else left - (slot - self.begun[job]) * self.speed(job, units)

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        left = self._left_at(job, now_ms / self.cluster.slot_ms)
        return max(0.0, left) / self.training.work(self.jobs[job])

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        self.servers.move_to(now_ms // self.cluster.slot_ms)
        for job in kept:
            assert isinstance(before, ReallocatingScheduler)
            self.shapes[job] = before.shapes[job]
            self.held[job] = before.held[job]
            self.begun[job] = before.begun[job]
            self.left[job] = before.left[job]

    def taken_over(self, now_ms: int) -> Decision:
        self.shapes = dict(sorted(self.shapes.items()))
        self.held = dict(sorted(self.held.items()))
        return NOTHING

    def speed(self, job: int, units: Units) -> float:
        """Work of the allocation in one slot."""
        return self.training.per_slot(self.jobs[job], workers_of(units), len({server for _, server, _ in units}) == 1)

    def state(self) -> dict[str, Any]:
        held = [(job, *unit) for job, units in sorted(self.held.items()) for unit in units]
        return {
            "active": np.array(sorted(self.shapes), dtype=np.int64),
            "held": np.array(held, dtype=np.int64).reshape(-1, 4),
            "begun": sorted(self.begun.items()),
            "left": sorted(self.left.items()),
            "slot": self.servers.slot,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.shapes = {job: self.training.shape(self.jobs[job]) for job in state["active"].tolist()}
        for job, role, server, count in state["held"].tolist():
            self.held[job] = (*self.held.get(job, ()), (role, server, count))
        self.begun = {int(job): int(slot) for job, slot in state["begun"]}
        self.left = {int(job): left for job, left in state["left"]}
        self.servers.move_to(state["slot"])

    def _why_stopped(self, job: int, units: Units) -> Reason:
        gone = next((server for _, server, _ in units if not self.servers.open[server]), None)
        return self.why(job, "preempted", ()) if gone is None else Reason("server_gone", {"server": gone})

    def _bars(self, job: int, units: Units, slot: int, left: float, finishes: dict[int, int]) -> list[Placement]:
        """Bars from this slot until the work is done, the horizon is reached, or an outage of a server begins."""
        slot_ms = self.cluster.slot_ms
        done = end = slot + max(1, math.ceil(left / self.speed(job, units) - EPSILON))
        if self.cluster.horizon_slots is not None:
            end = min(end, self.cluster.horizon_slots)
        if self.servers.changes:
            end = min([end, *(closes for _, server, _ in units if (closes := self.servers.closes(server)) is not None)])
        if end == done:
            finishes[job] = end * slot_ms
        return [Placement(job, role, server, slot * slot_ms, end * slot_ms, count) for role, server, count in units]
