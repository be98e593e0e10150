"""FIFO, the baseline of OASiS and PD-ORS: jobs start in order of arrival with a fixed number of workers.

Follows the papers' descriptions with the decisions of the primal-dual specification, section 5: a job starts at the
beginning of a slot when its whole gang fits, and keeps it until its work is done; units are placed round robin (a
pointer per role that persists; the next server where the unit fits); the head of the queue blocks those behind it; a
job that the horizon cuts off is worth nothing.

Differs from the papers: a gang that cannot fit even the empty cluster is rejected, since it would block the queue for ever.
Ours: when a server leaves (Server.away), its jobs stop at the end of the slot before and go to the head of the queue with the
work that is left; nothing is lost but the slot that the leaving cuts.
The parameter `backfill` is ours: of each kind of gang the first in the queue is tried; a kind that did not fit is tried
again when a job has ended.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scheduling.admission import Room, impossible
from scheduling.model import NOTHING, RESOURCES, ROLES, Cluster, Decision, Demand, Job, Placement, Reason, Role, Verdict
from scheduling.packed import GUARD, fields, pack
from scheduling.registry import BaseScheduler, Parameters, parameter
from scheduling.training import (
    EPSILON,
    LIMITS,
    NEEDS,
    WORLDS,
    gang_size,
    oasis_ps,
    oasis_worker_slots,
    pd_ors_ps,
    pd_ors_sample_ms,
    pd_ors_slots,
)  # fmt: skip

_WORKER, _PS = int(Role.WORKER), int(Role.PS)


class Gang(NamedTuple):
    """What a job holds while it runs."""

    workers: int
    ps: int
    worker: Demand
    ps_demand: Demand


@dataclass(frozen=True, slots=True)
class FifoParameters(Parameters):
    model: str | None = parameter(
        None, "whose training model: oasis (chunks, separate servers) or pd-ors (samples, shared servers); empty = by the cluster",
        type=str, choices=WORLDS,
    )  # fmt: skip
    backfill: bool = parameter(False, "let later jobs start when the head of the queue does not fit")


class Fifo(BaseScheduler):
    """A queue, free amounts per server, and a round-robin pointer per role."""

    name = "fifo"
    title = "FIFO"
    paper = "Baseline of OASiS (INFOCOM 2018) and PD-ORS"
    summary = "Starts jobs in order of arrival with a fixed number of workers; the first in the queue blocks the rest."
    needs = ("worker", "ps", "epochs", "gradient_mb", "requested_workers")  # and those of the model, training.NEEDS
    worlds = WORLDS
    Parameters = FifoParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.model = self.model_on(cluster) or WORLDS[0]
        self.limits = LIMITS[self.model]
        self.fields = fields([name in self.limits for name in RESOURCES])
        self.needed = (*NEEDS[self.model], "requested_workers")
        self.room = Room(cluster, limits=self.limits)
        self.free = [GUARD | pack(server.capacity) for server in cluster.servers]
        self.hosts = [[i for i, server in enumerate(cluster.servers) if role in server.roles] for role in ROLES]
        self.pointers = [0, 0]  # per role, the position in `hosts` where the next search begins
        self.lines: dict[Gang | None, deque[int]] = {}  # the queue: one line, or with backfill one per kind of gang
        self.blocked: set[Gang | None] = set()  # lines whose head did not fit, and nothing has been freed since
        self.gangs: dict[int, Gang] = {}  # of the jobs in the queue
        self.running: dict[int, list[tuple[int, int, int]]] = {}  # job -> [(role, server, count)]
        self.leaves = any(server.away for server in cluster.servers)
        self.away = {i for i, server in enumerate(cluster.servers) if server.is_away(0)}
        for server in self.away:
            self.free[server] -= pack(cluster.servers[server].capacity)
        self.begun: dict[int, int] = {}  # running job -> when its bars began; only where a server ever leaves
        self.left: dict[int, float] = {}  # work left of jobs that were stopped: worker-slots, or samples
        self.packed: dict[Demand, int] = {}

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        row = self.jobs[job]
        reason = impossible(row, self.needed, self.room, self.model)
        if reason is None:
            gang = self._gang(row)
            reason = self._too_large(gang)
        if reason is not None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        self._enqueue(job, gang)
        return NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self._give_back(job, self.running.pop(job))
        self.blocked.clear()
        self.begun.pop(job, None)
        self.left.pop(job, None)
        return NOTHING

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        self.blocked.clear()
        capacity = pack(self.cluster.servers[server].capacity)
        if not self.cluster.servers[server].is_away(now_ms):
            self.away.discard(server)
            self.free[server] += capacity
            return NOTHING
        stopped = sorted((job for job, units in self.running.items() if any(unit[1] == server for unit in units)), reverse=True)
        for job in stopped:
            self._stop(now_ms, job)
        self.away.add(server)
        self.free[server] -= capacity
        reason = Reason("server_left", {"server": server})
        return Decision({job: [] for job in stopped}, {}, tuple(Verdict(job, "preempted", reason) for job in reversed(stopped)))

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        verdicts: list[Verdict] = []
        heads = [(line[0], kind) for kind, line in self.lines.items() if kind not in self.blocked]
        heapq.heapify(heads)  # jobs differ, so kinds are never compared
        while heads:
            job, kind = heapq.heappop(heads)
            gang = self.gangs[job]
            taken = self._place(job, gang)
            if taken is not None:
                plan[job] = self._bars(now_ms, job, gang, taken, finishes)
                values = {"waited_ms": now_ms - self.jobs[job].arrival_ms, "workers": gang.workers, "ps": gang.ps}
                verdicts.append(Verdict(job, "resumed" if job in self.left else "started", Reason("in_order", values)))
            elif self.running or self.away:
                self.blocked.add(kind)
            else:
                verdicts.append(Verdict(job, "rejected", Reason("gang_fits_nowhere", {"workers": gang.workers, "ps": gang.ps})))
            if kind not in self.blocked and self._leave(job, kind):
                heapq.heappush(heads, (self.lines[kind][0], kind))
        return Decision(plan, finishes, tuple(verdicts)) if verdicts else NOTHING

    def state(self) -> dict[str, Any]:
        held = [(job, *unit) for job, units in self.running.items() for unit in units]
        return {
            "queue": np.array(sorted(self.gangs), dtype=np.int64),
            "blocked": sorted(self.lines[kind][0] for kind in self.blocked),  # the head stands for its line
            "held": np.array(held, dtype=np.int64).reshape(-1, 4),
            "pointers": self.pointers,
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
            self.free[server] -= count * self._need(job, role)
        self.pointers = list(state["pointers"])
        self.begun = {int(job): int(ms) for job, ms in state["begun"]}
        self.left = {int(job): left for job, left in state["left"]}
        for server in set(state["away"]) ^ self.away:
            self.free[server] += (1 if server in self.away else -1) * pack(self.cluster.servers[server].capacity)
        self.away = set(state["away"])

    def _gang(self, job: Job) -> Gang:
        assert job.worker is not None
        assert job.ps is not None
        oasis = self.model == "oasis"
        workers = gang_size(job, job.num_chunks if oasis else job.global_batch)
        return Gang(workers, oasis_ps(job, workers) if oasis else pd_ors_ps(job, workers), job.worker, job.ps)

    def _too_large(self, gang: Gang) -> Reason | None:
        """A gang larger than the empty cluster would block the queue for ever."""
        for role, demand, count in (("worker", gang.worker, gang.workers), ("ps", gang.ps_demand, gang.ps)):
            most = self.room.places(role, demand, count)
            if count > most:
                return Reason("gang_too_large", {"role": role, "count": count, "most": most})
        return None

    def _kind(self, gang: Gang) -> Gang | None:
        return gang if self.parameters.backfill else None

    def _enqueue(self, job: int, gang: Gang) -> None:
        self.gangs[job] = gang
        self.lines.setdefault(self._kind(gang), deque()).append(job)

    def _stop(self, now_ms: int, job: int) -> None:
        """Back to the head of the queue, with the work of its whole slots done."""
        gang, units = self._gang(self.jobs[job]), self.running.pop(job)
        self._give_back(job, units)
        slots = (now_ms - self.begun.pop(job)) // self.cluster.slot_ms
        self.left[job] = self._work_left(job) - slots * self._per_slot(job, gang, units)
        self.gangs[job] = gang
        self.lines.setdefault(self._kind(gang), deque()).appendleft(job)

    def _work_left(self, job: int) -> float:
        row = self.jobs[job]
        if job in self.left:
            return self.left[job]
        if self.model == "oasis":
            return oasis_worker_slots(row, self.cluster.slot_ms)
        assert row.epochs is not None
        assert row.num_samples is not None
        return row.epochs * row.num_samples

    def _per_slot(self, job: int, gang: Gang, units: list[tuple[int, int, int]]) -> float:
        """Work of the gang in one slot."""
        if self.model == "oasis":
            return gang.workers
        return gang.workers * self.cluster.slot_ms / pd_ors_sample_ms(self.jobs[job], _internal(units))

    def _leave(self, job: int, kind: Gang | None) -> bool:
        """Takes the head out of its line; whether the line goes on."""
        line = self.lines[kind]
        line.popleft()
        del self.gangs[job]
        if not line:
            del self.lines[kind]
        return bool(line)

    def _need(self, job: int, role: int) -> int:
        row = self.jobs[job]
        demand = row.worker if role == _WORKER else row.ps
        need = self.packed.get(demand)  # type: ignore[arg-type]
        if need is None:
            assert demand is not None
            need = self.packed[demand] = pack(demand) & self.fields
        return need

    def _place(self, job: int, gang: Gang) -> list[tuple[int, int, int]] | None:
        """Takes the whole gang round robin and returns it; None, with nothing taken, when it does not fit now."""
        before = self.pointers[:]
        taken: list[tuple[int, int, int]] = []
        for role, count in ((_WORKER, gang.workers), (_PS, gang.ps)):
            need, hosts, free = self._need(job, role), self.hosts[role], self.free
            position, failures = self.pointers[role], 0
            counts: dict[int, int] = {}
            while count and failures < len(hosts):
                server = hosts[position]
                position = position + 1 if position + 1 < len(hosts) else 0
                if (free[server] - need) & GUARD == GUARD:
                    free[server] -= need
                    counts[server] = counts.get(server, 0) + 1
                    count -= 1
                    failures = 0
                else:
                    failures += 1
            taken += [(role, server, units) for server, units in counts.items()]
            if count:
                self._give_back(job, taken)
                self.pointers = before
                return None
            self.pointers[role] = position
        self.running[job] = taken
        return taken

    def _give_back(self, job: int, taken: list[tuple[int, int, int]]) -> None:
        for role, server, count in taken:
            self.free[server] += count * self._need(job, role)

    def _bars(
        self, now_ms: int, job: int, gang: Gang, taken: list[tuple[int, int, int]], finishes: dict[int, int]
    ) -> list[Placement]:
        """The bars from now until the work is done, the horizon comes, or one of its servers leaves."""
        cluster, row = self.cluster, self.jobs[job]
        if job in self.left:
            slots = max(1, math.ceil(self.left[job] / self._per_slot(job, gang, taken) - EPSILON))
        elif self.model == "oasis":
            slots = -(-oasis_worker_slots(row, cluster.slot_ms) // gang.workers)
        else:
            slots = pd_ors_slots(row, gang.workers, _internal(taken), cluster.slot_ms)
        done_ms = end_ms = now_ms + slots * cluster.slot_ms
        if cluster.horizon_slots is not None:
            end_ms = min(end_ms, cluster.horizon_slots * cluster.slot_ms)
        if self.leaves:
            self.begun[job] = now_ms
            for _, server, _ in taken:
                left_ms = cluster.servers[server].next_away_ms(now_ms)
                if left_ms is not None and left_ms < end_ms:
                    end_ms = left_ms // cluster.slot_ms * cluster.slot_ms
        if end_ms == done_ms:
            finishes[job] = end_ms
        return [Placement(job, role, server, now_ms, end_ms, count) for role, server, count in taken] if end_ms > now_ms else []


def _internal(units: list[tuple[int, int, int]]) -> bool:
    """Whether all stands on one server (Fact 1 of PD-ORS)."""
    return len({server for _, server, _ in units}) == 1
