"""FIFO, the baseline of OASiS and PD-ORS: jobs start in order of arrival with a fixed number of workers.

Follows the papers' descriptions: a job starts at the
beginning of a slot when its whole gang fits, and keeps it until its work is done; units are placed round robin (a
pointer per role that persists; the next server where the unit fits); the head of the queue blocks those behind it; a
job that the horizon cuts off is worth nothing.

Differs from the papers: a gang that cannot fit even the empty cluster is rejected, since it would block the queue for
ever. Ours: when a server becomes unavailable (Server.away), its jobs stop at the end of the slot before and go to the
head of the queue with their remaining work; only the slot that the outage cuts is lost. The parameter `backfill` is
ours: of each kind of gang the first in the queue is tried; a kind that did not fit is tried again when a job has ended.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.resource_vector import pack
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.admission import Room, impossible
from scheduling.model.training_models import EPSILON, NEEDS, TRAINING_MODELS, gang_size
from scheduling.model.values import NOTHING, Cluster, Decision, Job, Placement, Reason, Verdict
from scheduling.slotted.execution import Slotted
from scheduling.slotted.reallocation import GangParameters, JobRates, Packing, Servers, Shape

Units = list[tuple[int, int, int]]  # (role, server, count) in the order in which they were placed


class Gang(NamedTuple):
    """Resources that a running job holds."""

    shape: Shape
    workers: int

    @property
    def kind(self) -> tuple[int, int, int, int]:
        """Kind of gang: gangs of one kind fit on the same servers."""
        return self.shape.worker, self.shape.ps, self.workers, self.shape.ps_of(self.workers)


Kind = tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True)
class FifoParameters(GangParameters):
    backfill: bool = parameter(False, "start later jobs when the head of the queue does not fit")


class Fifo(BaseScheduler):
    """A queue, and the free amounts of the servers with a round-robin pointer per role."""

    model = Slotted(supports=TRAINING_MODELS)
    name = "fifo"
    title = "FIFO"
    paper = "Baseline of OASiS (INFOCOM 2018) and PD-ORS"
    summary = "Starts jobs in order of arrival with a fixed number of workers; the head of the queue blocks later jobs."
    needs = (
        "worker",
        "ps",
        "epochs",
        "gradient_mb",
        "requested_workers",
    )  # and those of the training model (training_models.NEEDS)
    keeps_plans = True
    Parameters = FifoParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.training = JobRates(self.model.training(self, cluster), cluster.slot_ms)
        self.limits = self.training.limits
        self.needed = (*NEEDS[self.training.name], "requested_workers")
        self.room = Room(cluster, limits=self.limits)
        self.packing = Packing(Servers(cluster, self.training), everywhere=True)
        self.lines: dict[Kind, deque[int]] = {}  # the queue: one line, or with backfill one per kind of gang
        self.blocked: set[Kind] = set()  # lines whose head did not fit; nothing has been freed since
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
        self._enqueue(job, gang)
        return NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self.packing.put_back(self.gangs.pop(job).shape, self.running.pop(job))
        self.blocked.clear()
        self.begun.pop(job, None)
        self.left.pop(job, None)
        return NOTHING

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        self.blocked.clear()
        if not self.cluster.servers[server].is_away(now_ms):
            self._bring_back(server)
            return NOTHING
        stopped = sorted(
            (job for job, units in self.running.items() if any(unit[1] == server for unit in units)), reverse=True
        )
        for job in stopped:
            self._stop(now_ms, job)
        self._remove_server(server)
        reason = Reason("server_left", {"server": server})
        return Decision(
            {job: [] for job in stopped}, {}, tuple(Verdict(job, "preempted", reason) for job in reversed(stopped))
        )

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        verdicts: list[Verdict] = []
        heads = [(line[0], kind) for kind, line in self.lines.items() if kind not in self.blocked]
        heapq.heapify(heads)  # jobs differ, so kinds are never compared
        while heads:
            job, kind = heapq.heappop(heads)
            gang = self.gangs[job]
            values = {"workers": gang.workers, "ps": gang.shape.ps_of(gang.workers)}
            placed = self.packing.place(gang.shape, gang.workers)
            if placed is not None:
                units = self.running[job] = [(role, server, count) for (role, server), count in placed.items()]
                plan[job] = self._bars(now_ms, job, gang, units, finishes)
                values = {"waited_ms": now_ms - self.jobs[job].arrival_ms} | values
                verdicts.append(Verdict(job, "resumed" if job in self.left else "started", Reason("in_order", values)))
            elif self.running or self.away:
                self.blocked.add(kind)
            else:
                del self.gangs[job]
                verdicts.append(Verdict(job, "rejected", Reason("gang_fits_nowhere", values)))
            if kind not in self.blocked and self._leave(kind):
                heapq.heappush(heads, (self.lines[kind][0], kind))
        return Decision(plan, finishes, tuple(verdicts)) if verdicts else NOTHING

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        left = self._work_left(job)
        if job in self.running:
            slots = (now_ms - self.begun[job]) / self.cluster.slot_ms
            left -= slots * self._per_slot(job, self.gangs[job], self.running[job])
        return max(0.0, left) / self.training.work(self.jobs[job])

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        self._update_outages(now_ms)
        for job in kept:
            assert isinstance(before, Fifo)
            self.gangs[job], self.running[job], self.begun[job] = (
                before.gangs[job],
                before.running[job],
                before.begun[job],
            )
            if job in before.left:
                self.left[job] = before.left[job]
            self.packing.take(self.gangs[job].shape, self.running[job])

    def state(self) -> dict[str, Any]:
        held = [(job, *unit) for job, units in self.running.items() for unit in units]
        return {
            "queue": np.array([job for line in self.lines.values() for job in line], dtype=np.int64),
            "blocked": sorted(self.lines[kind][0] for kind in self.blocked),  # the head stands for its line
            "held": np.array(held, dtype=np.int64).reshape(-1, 4),
            "pointers": list(self.packing.positions),
            "begun": sorted(self.begun.items()),
            "left": sorted(self.left.items()),
            "away": sorted(self.away),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        for job in state["queue"].tolist():
            self._enqueue(job, self._gang(self.jobs[job]))
        self.blocked = {self._kind(self.gangs[job]) for job in state["blocked"]}
        for job, role, server, count in state["held"].tolist():
            self.running.setdefault(job, []).append((role, server, count))
        for job, units in self.running.items():
            self.gangs[job] = self._gang(self.jobs[job])
            self.packing.take(self.gangs[job].shape, units)
        self.packing.positions = [int(position) for position in state["pointers"]]
        self.begun = {int(job): int(ms) for job, ms in state["begun"]}
        self.left = {int(job): left for job, left in state["left"]}
        self._apply_outages(set(state["away"]))

    def _gang(self, job: Job) -> Gang:
        shape = self.training.shape(job)
        return Gang(shape, gang_size(job, shape.most))

    def _too_large(self, job: Job, gang: Gang) -> Reason | None:
        """Reason to reject a gang that does not fit the empty cluster: it would block the queue for ever."""
        for role, demand, count in (
            ("worker", job.worker, gang.workers),
            ("ps", job.ps, gang.shape.ps_of(gang.workers)),
        ):
            assert demand is not None
            if count > 1 and count > (most := self.room.places(role, demand, count)):
                return Reason("gang_too_large", {"role": role, "count": count, "most": most})
        return None

    def _kind(self, gang: Gang) -> Kind:
        return gang.kind if self.parameters.backfill else None

    def _enqueue(self, job: int, gang: Gang) -> None:
        self.gangs[job] = gang
        self.lines.setdefault(self._kind(gang), deque()).append(job)

    def _leave(self, kind: Kind) -> bool:
        """Removes the head of a queue; true if the queue continues."""
        line = self.lines[kind]
        line.popleft()
        if not line:
            del self.lines[kind]
        return bool(line)

    def _stop(self, now_ms: int, job: int) -> None:
        """Returns a job to the head of the queue, with the work of its whole slots done."""
        gang, units = self.gangs[job], self.running.pop(job)
        self.packing.put_back(gang.shape, units)
        slots = (now_ms - self.begun.pop(job)) // self.cluster.slot_ms
        self.left[job] = self._work_left(job) - slots * self._per_slot(job, gang, units)
        self.lines.setdefault(self._kind(gang), deque()).appendleft(job)

    def _update_outages(self, now_ms: int) -> None:
        """Updates the available servers."""
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

    def _bars(self, now_ms: int, job: int, gang: Gang, units: Units, finishes: dict[int, int]) -> list[Placement]:
        """Bars from now until the work is done, the horizon is reached, or one of its servers becomes unavailable."""
        cluster = self.cluster
        slots = max(1, math.ceil(self._work_left(job) / self._per_slot(job, gang, units) - EPSILON))
        done_ms = end_ms = now_ms + slots * cluster.slot_ms
        if cluster.horizon_slots is not None:
            end_ms = min(end_ms, cluster.horizon_slots * cluster.slot_ms)
        self.begun[job] = now_ms
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
