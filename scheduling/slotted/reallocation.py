"""Gangs of FIFO and of the schedulers that reallocate all jobs whenever something happens (DRF, RRH, Dorm).

A gang holds servers for whole slots; it keeps them until it is reallocated. Units are placed round
robin: a pointer per role goes on to the next server where the unit fits. The work that a job has done is kept when its
gang changes: worker-slots with the training model of OASiS, samples with that of PD-ORS, where a gang on one server is
faster (Fact 1). Servers with outages (Server.away) are out of use in every slot that an outage touches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.kernel.resource_vector import GUARD, fields, pack
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.admission import Room, impossible
from scheduling.model.training_models import (
    BANDWIDTH,
    EPSILON,
    LIMITS,
    MAX_GANG,
    TRAINING_MODELS,
    needs_of,
    oasis_worker_slots,
    pd_ors_sample_ms,
)
from scheduling.model.values import (
    NONE,
    NOTHING,
    RESOURCES,
    ROLES,
    Cluster,
    Decision,
    Demand,
    Job,
    Placement,
    Reason,
    Role,
    Verdict,
)
from scheduling.slotted.execution import Slotted

MAX_WORKERS = 1_000  # that a scheduler gives one job; the papers' jobs can use at most 200
WORKER, PS = int(Role.WORKER), int(Role.PS)

Units = tuple[tuple[int, int, int], ...]  # (role, server, count) in this order


@dataclass(frozen=True, slots=True)
class GangParameters(Parameters):
    model: str | None = parameter(
        None,
        "training model: oasis (chunks, separate servers) or pd-ors (samples, shared servers); empty = by the cluster",
        type=str, choices=TRAINING_MODELS,
    )  # fmt: skip


class Shape(NamedTuple):
    """Shape of a job for placement."""

    worker: int  # packed demand of one worker, of the resources that count
    ps: int
    most: int  # workers at a time
    need: int  # w workers have ceil(w need / give) parameter servers
    give: int

    def ps_of(self, workers: int) -> int:
        return -(-workers * self.need // self.give)


class JobRates:
    """Rates of jobs by a training model: maximum workers, number of parameter servers, and speed."""

    def __init__(self, name: str, slot_ms: int) -> None:
        self.name, self.slot_ms = name, slot_ms
        self.limits = LIMITS[name]
        self.fields = fields([resource in self.limits for resource in RESOURCES])

    def shape(self, job: Job) -> Shape:
        assert job.worker is not None
        assert job.ps is not None
        if self.name == "oasis":
            most = min(job.num_chunks or MAX_GANG, MAX_GANG)
            need, give = (job.worker[BANDWIDTH], job.ps[BANDWIDTH]) if job.worker[BANDWIDTH] else (1, most)
        else:
            most = min(job.global_batch or MAX_GANG, MAX_GANG)
            need, give = 1, job.workers_per_ps or 1
        return Shape(self.pack(job.worker), self.pack(job.ps), most, need, give)

    def pack(self, demand: Demand) -> int:
        return pack(demand) & self.fields

    def work(self, job: Job) -> float:
        """Worker-slots, or samples."""
        if self.name == "oasis":
            return oasis_worker_slots(job, self.slot_ms)
        assert job.epochs is not None
        assert job.num_samples is not None
        return job.epochs * job.num_samples

    def work_as(self, record: Job, rest: Job) -> float:
        """Work of `rest`, the same job with other times of its work, at the rate of `record`."""
        return self.work(rest) * self.per_slot(record, 1, False) / self.per_slot(rest, 1, False)

    def per_slot(self, job: Job, workers: int, internal: bool) -> float:
        """Work of `workers` in a slot; internal: the whole gang is on one server."""
        return workers if self.name == "oasis" else workers * self.slot_ms / pd_ors_sample_ms(job, internal)


class Servers:
    """Available servers in each slot, with their capacity when empty."""

    def __init__(self, cluster: Cluster, training: JobRates) -> None:
        slot_ms = cluster.slot_ms
        self.capacity = [GUARD | pack(server.capacity) for server in cluster.servers]
        self.amounts = [server.capacity for server in cluster.servers]
        self.roles = [[role in server.roles for server in cluster.servers] for role in ROLES]
        self.closed = [[(a // slot_ms, -(-b // slot_ms)) for a, b in server.away] for server in cluster.servers]
        self.changes = sorted({slot for closed in self.closed for interval in closed for slot in interval})
        self.limited = [r for r, name in enumerate(RESOURCES) if name in training.limits]
        self.slot = -1
        self.move_to(0)

    def move_to(self, slot: int) -> None:
        """Advance to `slot`."""
        stays, self.slot = self.slot >= 0 and not self.changes, slot
        if stays:
            return
        self.next_change = next((change for change in self.changes if change > slot), None)
        self.open = [not any(first <= slot < past for first, past in closed) for closed in self.closed]
        self.hosts = [[i for i, able in enumerate(roles) if able and self.open[i]] for roles in self.roles]
        rows = [amounts for amounts, here in zip(self.amounts, self.open, strict=True) if here]
        self.total = [sum(column) for column in zip(*rows, strict=True)] or [0] * len(RESOURCES)

    def closes(self, server: int) -> int | None:
        """The next slot in which the server cannot be used."""
        return next((first for first, _ in self.closed[server] if first > self.slot), None)

    def pairs(self, shape: Shape) -> bool:
        """True if a worker and a parameter server fit together on empty, available servers."""
        found: list[list[int]] = []
        for roles, need in zip(self.roles, (shape.worker, shape.ps), strict=True):
            found.append([i for i, able in enumerate(roles) if able and fits(self.capacity[i], need)])
        if any(len(servers) > 1 for servers in found) or found[0] != found[1]:
            return bool(found[0] and found[1])
        return any(fits(self.capacity[i], shape.worker + shape.ps) for i in found[0])


class Packing:
    """Free amounts of the servers in use, filled unit by unit, round robin."""

    def __init__(self, servers: Servers, pointers: Sequence[int] = (0, 0), everywhere: bool = False) -> None:
        """pointers: per role, the server at which the search begins. everywhere: also on unavailable servers."""
        self.free = list(servers.capacity)
        self.hosts = (
            [[i for i, able in enumerate(roles) if able] for roles in servers.roles] if everywhere else servers.hosts
        )
        self.positions = [
            next((p for p, server in enumerate(hosts) if server >= pointer), 0)
            for hosts, pointer in zip(self.hosts, pointers, strict=True)
        ]
        self.full: tuple[set[int], set[int]] = (set(), set())  # per role, demands for which no server has room

    @property
    def pointers(self) -> list[int]:
        return [hosts[p] if hosts else 0 for hosts, p in zip(self.hosts, self.positions, strict=True)]

    def unit(self, role: int, need: int) -> int:
        """Server of one more unit, which is reserved there; NONE if no server has capacity."""
        full = self.full[role]
        if need in full:
            return NONE
        free, hosts = self.free, self.hosts[role]
        position = self.positions[role]
        for _ in range(len(hosts)):
            server = hosts[position]
            position = position + 1 if position + 1 < len(hosts) else 0
            rest = free[server] - need
            if rest & GUARD == GUARD:
                free[server] = rest
                self.positions[role] = position
                return server
        full.add(need)
        return NONE

    def grow(self, shape: Shape, held: dict[tuple[int, int], int], workers: int) -> bool:
        """Addition of one worker to `workers`, with the parameter servers that it needs; all of it or nothing."""
        before = self.positions[:]
        taken: list[tuple[int, int, int]] = []
        for role, need, count in (
            (WORKER, shape.worker, 1), (PS, shape.ps, shape.ps_of(workers + 1) - shape.ps_of(workers)),
        ):  # fmt: skip
            for _ in range(count):
                server = self.unit(role, need)
                if server == NONE:
                    for _, place, amounts in taken:
                        self.give(place, amounts)
                    self.positions = before
                    return False
                taken.append((role, server, need))
        for role, server, _ in taken:
            held[role, server] = held.get((role, server), 0) + 1
        return True

    def gang(self, shape: Shape, workers: int) -> Units | None:
        """`workers` with their parameter servers; None, with nothing taken, when they do not fit."""
        held = self.place(shape, workers)
        return None if held is None else as_units(held)

    def place(self, shape: Shape, workers: int) -> dict[tuple[int, int], int] | None:
        """Units as {(role, server): count} in the order in which servers were found."""
        before = self.positions[:]
        held: dict[tuple[int, int], int] = {}
        for role, need, count in ((WORKER, shape.worker, workers), (PS, shape.ps, shape.ps_of(workers))):
            for _ in range(count):
                server = self.unit(role, need)
                if server == NONE:
                    for (kind, place), units in held.items():
                        self.give(place, units * (shape.worker if kind == WORKER else shape.ps))
                    self.positions = before
                    return None
                held[role, server] = held.get((role, server), 0) + 1
        return held

    def take(self, shape: Shape, units: Iterable[tuple[int, int, int]]) -> None:
        """Reserves units that a job already holds."""
        for role, server, count in units:
            self.free[server] -= count * (shape.worker if role == WORKER else shape.ps)

    def put_back(self, shape: Shape, units: Iterable[tuple[int, int, int]]) -> None:
        """The inverse of `take`."""
        for role, server, count in units:
            self.give(server, count * (shape.worker if role == WORKER else shape.ps))

    def give(self, server: int, amounts: int) -> None:
        self.free[server] += amounts
        for full in self.full:
            full.clear()


class GangScheduler(BaseScheduler):
    """Base class that keeps allocations. A subclass computes in `allocate` the gang of each job from a slot on."""

    model = Slotted(supports=TRAINING_MODELS)
    Parameters = GangParameters
    needs: ClassVar[tuple[str, ...]] = (
        "worker",
        "ps",
        "epochs",
        "gradient_mb",
    )  # and those of the training model (training_models.NEEDS)
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

    def allocate(self, now_ms: int, slot: int) -> tuple[Mapping[int, Units], Sequence[Verdict]]:
        """Allocation of each active job from this slot on (others hold nothing), and the decisions to report before."""
        raise NotImplementedError

    def why(self, job: int, kind: str, units: Units) -> Reason:
        """Reason why a job is started, resumed or preempted."""
        raise NotImplementedError

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        reason = impossible(self.jobs[job], self.needed, self.room, self.training.name)
        if reason is None:
            shape = self.training.shape(self.jobs[job])
            reason = self.hopeless(job, shape)
        if reason is not None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        self.shapes[job] = shape
        return NOTHING

    def hopeless(self, job: int, shape: Shape) -> Reason | None:
        """Reason why no allocation could ever start the job although each unit fits somewhere."""
        return None if self.servers.pairs(shape) else Reason("gang_fits_nowhere", {"workers": 1, "ps": shape.ps_of(1)})

    def on_completion(self, now_ms: int, job: int) -> Decision:
        for book in (self.shapes, self.held, self.begun, self.left):
            book.pop(job, None)
        return NOTHING

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """The job keeps its allocation; the slot that begins now reallocates as after a completion."""
        slot = now_ms // self.cluster.slot_ms
        self.servers.move_to(slot)
        self.left[job] = self.training.work_as(self.jobs[job], rest)
        finishes: dict[int, int] = {}
        if not all(self.servers.open[server] for _, server, _ in self.held[job]):
            del self.held[job], self.begun[job]
            return Decision({job: []})
        self.begun[job] = slot
        return Decision({job: self._bars(job, self.held[job], slot, self.left[job], finishes)}, finishes)

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        if not self.shapes:
            return NOTHING
        self.servers.move_to(slot)
        gangs, early = self.allocate(now_ms, slot)
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        verdicts = list(early)
        for job in sorted({*self.held, *gangs}):
            before, after = self.held.get(job), gangs.get(job)
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
            assert isinstance(before, GangScheduler)
            self.shapes[job] = before.shapes[job]
            self.held[job] = before.held[job]
            self.begun[job] = before.begun[job]
            self.left[job] = before.left[job]

    def taken_over(self, now_ms: int) -> Decision:
        self.shapes = dict(sorted(self.shapes.items()))
        self.held = dict(sorted(self.held.items()))
        return NOTHING

    def speed(self, job: int, units: Units) -> float:
        """Work of the gang in one slot."""
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


def as_units(held: Mapping[tuple[int, int], int]) -> Units:
    return tuple(sorted((role, server, count) for (role, server), count in held.items()))


def workers_of(units: Iterable[tuple[int, int, int]]) -> int:
    return sum(count for role, _, count in units if role == WORKER)


def fits(free: int, need: int) -> bool:
    """True if a packed demand fits into packed free amounts."""
    return (free - need) & GUARD == GUARD
