"""Queue of gangs that run without preemption: the base of FIFO and of the backfilling schedulers.

A gang starts at the beginning of a slot with all of its workers and parameter servers, and keeps them until its work is
done; units are placed round robin (a pointer per role that persists; the next server where the unit fits). A gang that
cannot fit even the empty cluster is rejected. When a server becomes unavailable (Server.away), its jobs stop at the end
of the slot before and wait again with their remaining work; only the slot that the outage cuts is lost. Subclasses
define the queue, and in `on_slot` who starts.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.kernel.resource_vector import pack
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.admission import Room, impossible
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.training_models import COMMON_NEEDS, EPSILON, TRAINING_MODELS, gang_size, needs_of
from scheduling.model.values import Cluster, Job
from scheduling.slotted.execution import Slotted
from scheduling.slotted.gangs.packing import WORKER, Packing, Servers
from scheduling.slotted.gangs.rates import GangParameters, JobRates, Shape

Units = list[tuple[int, int, int]]  # (role, server, count) in the order in which they were placed
Kind = tuple[int, int, int, int]  # packed demands of worker and parameter server, and their numbers


class Gang(NamedTuple):
    """Resources that a job holds while it runs."""

    shape: Shape
    workers: int

    @property
    def ps(self) -> int:
        """Number of parameter servers."""
        return self.shape.ps_of(self.workers)

    @property
    def kind(self) -> Kind:
        """Kind of gang: gangs of one kind fit on the same servers."""
        return self.shape.worker, self.shape.ps, self.workers, self.ps

    def by_server(self, units: Units) -> Iterator[tuple[int, int]]:
        """(server, packed amounts) of units of this gang."""
        for role, server, count in units:
            yield server, count * (self.shape.worker if role == WORKER else self.shape.ps)

    @property
    def values(self) -> dict[str, Any]:
        """Numbers of a reason."""
        return {"workers": self.workers, "ps": self.ps}


class GangQueue(BaseScheduler):
    """Base: the free amounts of the servers with a round-robin pointer per role, and the gangs that wait or run."""

    model = Slotted(supports=TRAINING_MODELS)
    needs = (*COMMON_NEEDS, "requested_workers")  # and those of the training model (training_models.NEEDS)
    keeps_plans = believes = True
    Parameters = GangParameters

    @abstractmethod
    def join(self, job: int) -> None:
        """Addition of a job that arrives to the queue."""

    @abstractmethod
    def join_again(self, job: int) -> None:
        """Addition of a job that was stopped to the queue."""

    @abstractmethod
    def queued(self) -> Sequence[int]:
        """Waiting jobs, in an order in which `join` restores the queue."""

    @abstractmethod
    def freed(self) -> None:
        """Hook after capacity was freed or lost."""

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.training = JobRates(self.model.training(self, cluster), cluster.slot_ms)
        self.limits = self.training.limits
        self.needed = needs_of(self.needs, self.training.name)
        self.room = Room(cluster, limits=self.limits)
        self.packing = Packing(Servers(cluster, self.training), everywhere=True)
        self.gangs: dict[int, Gang] = {}  # of the jobs that wait or run
        self.running: dict[int, Units] = {}
        self.leaves = any(server.away for server in cluster.servers)
        self.away: set[int] = set()
        self._update_outages(0)
        self.begun: dict[int, int] = {}  # running job -> when its bars began
        self.left: dict[int, float] = {}  # work left of jobs that were stopped: worker-slots, or samples

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        row = self.jobs[job]
        reason = impossible(row, self.needed, self.room, self.training.name)
        if reason is None:
            gang = self._gang(row)
            reason = self._too_large(row, gang)
        if reason is not None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        self.gangs[job] = gang
        self.join(job)
        return NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self.release(now_ms, job)
        del self.gangs[job]
        self.freed()
        self.left.pop(job, None)
        return NOTHING

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """The gang keeps its units: a job that runs longer than believed is not taken off its servers."""
        gang, units = self.gangs[job], self.running[job]
        slots = (now_ms - self.begun[job]) // self.cluster.slot_ms
        rest_work = self.training.work_as(self.jobs[job], rest)
        self.left[job] = slots * self._per_slot(job, gang, units) + rest_work  # as of its start
        if any(self.cluster.servers[server].is_away(now_ms) for _, server, _ in units):
            return Decision({job: []})  # `on_cluster_change` follows
        finishes: dict[int, int] = {}
        done_ms = now_ms + max(1, self._slots(job, gang, units) - slots) * self.cluster.slot_ms
        return Decision({job: self._bars_until(now_ms, job, units, done_ms, finishes)}, finishes)

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        if not self.cluster.servers[server].is_away(now_ms):
            self._bring_back(server)
            self.freed()
            return NOTHING
        stopped = sorted(
            (job for job, units in self.running.items() if any(unit[1] == server for unit in units)), reverse=True
        )
        for job in stopped:
            self._stop(now_ms, job)
        self._remove_server(server)
        self.freed()
        reason = Reason("server_left", {"server": server})
        return Decision(
            {job: [] for job in stopped}, {}, tuple(Verdict(job, "preempted", reason) for job in reversed(stopped))
        )

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        left = self._work_left(job)
        if job in self.running:
            slots = (now_ms - self.begun[job]) / self.cluster.slot_ms
            left -= slots * self._per_slot(job, self.gangs[job], self.running[job])
        return max(0.0, left) / self.training.work(self.jobs[job])

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        self._update_outages(now_ms)
        for job in kept:
            assert isinstance(before, GangQueue)
            self.gangs[job] = before.gangs[job]
            self.packing.take(self.gangs[job].shape, before.running[job])
            if job in before.left:
                self.left[job] = before.left[job]
            self.hold(job, before.running[job], before.begun[job])

    def hold(self, job: int, units: Units, begun_ms: int) -> None:
        """Record that a job runs on units that are reserved for it."""
        self.running[job], self.begun[job] = units, begun_ms

    def release(self, now_ms: int, job: int) -> Units:
        """Release of a running job; the units that it held."""
        units = self.running.pop(job)
        self.packing.put_back(self.gangs[job].shape, units)
        del self.begun[job]
        return units

    def state(self) -> dict[str, Any]:
        held = [(job, *unit) for job, units in self.running.items() for unit in units]
        return {
            "queue": np.array(self.queued(), dtype=np.int64),
            "held": np.array(held, dtype=np.int64).reshape(-1, 4),
            "pointers": list(self.packing.positions),
            "begun": sorted(self.begun.items()),
            "left": sorted(self.left.items()),
            "away": sorted(self.away),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.left = {int(job): left for job, left in state["left"]}
        held: dict[int, Units] = {}
        for job, role, server, count in state["held"].tolist():
            held.setdefault(job, []).append((role, server, count))
        begun = {int(job): int(ms) for job, ms in state["begun"]}
        for job, units in held.items():
            self.gangs[job] = self._gang(self.jobs[job])
            self.packing.take(self.gangs[job].shape, units)
            self.hold(job, units, begun[job])
        for job in state["queue"].tolist():
            self.gangs[job] = self._gang(self.jobs[job])
            self.join(job)
        self.packing.positions = [int(position) for position in state["pointers"]]
        self._apply_outages(set(state["away"]))

    def _gang(self, job: Job) -> Gang:
        shape = self.training.shape(job)
        return Gang(shape, gang_size(job, shape.most))

    def _too_large(self, job: Job, gang: Gang) -> Reason | None:
        """Reason to reject a gang that does not fit the empty cluster: it would block the queue for ever."""
        for role, demand, count in (("worker", job.worker, gang.workers), ("ps", job.ps, gang.ps)):
            assert demand is not None
            if count > 1 and count > (most := self.room.places(role, demand, count)):
                return Reason("gang_too_large", {"role": role, "count": count, "most": most})
        return None

    def _stop(self, now_ms: int, job: int) -> None:
        """Return of a job to the queue, with the work of its whole slots done."""
        gang, slots = self.gangs[job], (now_ms - self.begun[job]) // self.cluster.slot_ms
        units = self.release(now_ms, job)
        self.left[job] = self._work_left(job) - slots * self._per_slot(job, gang, units)
        self.join_again(job)

    def _update_outages(self, now_ms: int) -> None:
        """Update of the available servers."""
        self._apply_outages({i for i, server in enumerate(self.cluster.servers) if server.is_away(now_ms)})

    def _apply_outages(self, away: set[int]) -> None:
        for server in away ^ self.away:
            (self._bring_back if server in self.away else self._remove_server)(server)

    def _remove_server(self, server: int) -> None:
        self.away.add(server)
        self.packing.free[server] -= pack(self.cluster.servers[server].capacity)

    def _bring_back(self, server: int) -> None:
        self.away.discard(server)
        self.packing.give(server, pack(self.cluster.servers[server].capacity))

    def _work_left(self, job: int) -> float:
        return self.left[job] if job in self.left else self.training.work(self.jobs[job])

    def _per_slot(self, job: int, gang: Gang, units: Units) -> float:
        """Work of the gang in one slot."""
        return self.training.per_slot(self.jobs[job], gang.workers, len({server for _, server, _ in units}) == 1)

    def _slots(self, job: int, gang: Gang, units: Units) -> int:
        """Slots in which the gang does the work that is left."""
        return max(1, math.ceil(self._work_left(job) / self._per_slot(job, gang, units) - EPSILON))

    def _bars(self, now_ms: int, job: int, gang: Gang, units: Units, finishes: dict[int, int]) -> list[Placement]:
        """Bars from now until the work is done, the horizon is reached, or one of its servers becomes unavailable."""
        done_ms = now_ms + self._slots(job, gang, units) * self.cluster.slot_ms
        self.hold(job, units, now_ms)
        return self._bars_until(now_ms, job, units, done_ms, finishes)

    def _bars_until(
        self, now_ms: int, job: int, units: Units, done_ms: int, finishes: dict[int, int]
    ) -> list[Placement]:
        """Bars of a running job from now until done_ms, the horizon, or an outage of one of its servers."""
        cluster, end_ms = self.cluster, done_ms
        if cluster.horizon_slots is not None:
            end_ms = min(end_ms, cluster.horizon_slots * cluster.slot_ms)
        if self.leaves:
            for _, server, _ in units:
                left_ms = cluster.servers[server].next_away_ms(now_ms)
                if left_ms is not None and left_ms < end_ms:
                    end_ms = left_ms // cluster.slot_ms * cluster.slot_ms
        if end_ms == done_ms:
            finishes[job] = end_ms
        return (
            [Placement(job, role, server, now_ms, end_ms, count) for role, server, count in units]
            if end_ms > now_ms
            else []
        )
