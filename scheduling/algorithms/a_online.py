"""A_online: preemptive scheduling of typed workers in an edge-cloud network (Algorithms 1 to 5 and Section VI).

On arrival, each chunk of a job goes to the worker where it raises the sum of completion times least (Eq. 5); every
worker runs its chunks highest average processing rate first; a job that runs holds one parameter server.

Differs from the paper:
- Workers are work-conserving. The paper's plan shifts what is postponed (Algorithm 4, lines 3 to 7), leaves gaps
  and collides with chunks that are still uploading; with no upload in flight both are the same, otherwise no chunk is
  later under this rule.
- The cloud for the first chunk means the whole job in the cloud, at the rate of one place (zeta = 1); for a later
  chunk it means all that are left, at the other rate. The cloud's cost is constant and the edge's only grow, so that
  is the greedy result.
- Of equal costs, in 1/1000 ms, the edge goes before the cloud and the first worker before others.
- When no parameter server of its type is free, a job takes another one at the edge, otherwise one in the cloud.
- Section VI leaves out what happens without a cloud when storage is full: a job is dispatched when all of its chunks
  fit, in the order of arrival, with those that fit going ahead of those that do not; dispatched one by one, chunks
  that hold storage could block each other.
- Outages: an unavailable worker keeps its chunks and waits; outages are known in advance. A server that is ever
  unavailable offers no parameter servers.
- Nothing is planned after the horizon; the paper's T is "large enough".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import CLOUD, NONE, Placement, Role
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict, WorkerPlan
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, Job, ModelError
from scheduling.reporting.quantities import counted
from scheduling.typed_workers import workers as typed
from scheduling.typed_workers.a_online import dispatch, plans
from scheduling.typed_workers.a_online import storage as storing
from scheduling.typed_workers.a_online.dispatch import CloudPart
from scheduling.typed_workers.a_online.ps_schedule import Assignment
from scheduling.typed_workers.a_online.storage import Storage
from scheduling.typed_workers.execution import TypedWorkers
from scheduling.typed_workers.haprf import NEVER, Bars, Shard

_WORKER, _PS = int(Role.WORKER), int(Role.PS)


@dataclass(frozen=True, slots=True)
class AOnlineParameters(Parameters):
    storage: str = parameter(
        "none",
        "None (storage is not limited), job (servers store a chunk until its job ends) or chunk (until it ends)",
        choices=storing.TITLES, title="Storage limit"
    )  # fmt: skip
    speed_augmentation: float = parameter(
        0.0, "Epsilon: chunks run at 1 + epsilon times their speed, as in the analysis of the paper", low=0.0, high=10.0
    )  # fmt: skip


class SlotsOfType(NamedTuple):
    """The workers of one type."""

    server: np.ndarray  # [row]
    number: np.ndarray  # [row] worker on its server
    shard: Shard


class AOnline(BaseScheduler):
    """A_online with one shard of workers per type, since jobs use their own type only.

    All share the parameter servers.
    """

    model: ClassVar[TypedWorkers] = TypedWorkers(chunks=True, cloud=True)
    name = "a_online"
    title = "A_online"
    paper = "Wang et al.: Preemptive Scheduling for Distributed Machine Learning Jobs in Edge-Cloud Networks"
    summary = (
        "Dispatches each data chunk where it increases total completion time least, at the edge or in the "
        "cloud; faster chunks preempt slower ones."
    )
    needs = typed.PARTS
    uses = ("worker_type",)
    final = True
    Parameters = AOnlineParameters

    def check(self, cluster: Cluster) -> None:
        """Condition without a cloud: a parameter server for every worker, so that a running job always gets one."""
        if self.model.cloud and cluster.unlimited_cloud:
            return
        workers, ps = len(_lasting(cluster).server), len(_steady(cluster).server)
        if ps < workers:
            raise ModelError(
                f"cluster {cluster.name}: without the cloud, {self.title} needs a parameter server for every worker, "
                f"on servers without outages: {counted(workers, 'worker')} and {counted(ps, 'parameter server')}; add "
                "parameter servers, or use a_online on a cluster with an unlimited cloud"
            )

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.check(cluster)
        self.speed = 1.0 + self.parameters.speed_augmentation
        self.workers = _lasting(cluster)
        self.shards: dict[str | None, SlotsOfType] = {}
        self.assignment = Assignment(_steady(cluster), jobs, int(rng.integers(1 << 62)))
        self.storage = Storage(cluster, jobs, self.parameters.storage)
        self.horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else NEVER
        self.dispatched = 0
        self.at_edge: dict[int, int] = {}  # chunks of each job that is not done
        self.waiting: list[int] = []  # jobs that storage keeps out, in order of arrival
        self.due_ms: int | None = None  # the requested alarm

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        row = self.jobs[job]
        reason = typed.impossible(row) or self._homeless(row)
        if reason is not None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        if now_ms >= self.horizon_ms:
            return NOTHING
        decision = self._dispatch(now_ms, job)
        if decision is not None:
            return decision
        self.waiting.append(job)
        values = {"chunks": row.num_chunks, "chunk_mb": row.chunk_mb, "waiting": len(self.waiting)}
        alarm_ms = self._next_alarm(now_ms)
        return Decision(verdicts=(Verdict(job, "postponed", Reason("storage_full", values)),), alarm_ms=alarm_ms)

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self.assignment.forget(job)
        self.at_edge.pop(job, None)
        if self.storage.drop(job) and self.waiting:
            self.due_ms = now_ms
            return Decision(alarm_ms=now_ms)
        return NOTHING

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        """Decision of A_ps after all else at this instant; before it, dispatch of one job that waited for storage."""
        self.due_ms = now_ms  # a decision from here asks for another alarm at once
        for job in self.waiting:
            decision = self._dispatch(now_ms, job)
            if decision is not None:
                self.waiting.remove(job)
                return decision
        self.due_ms = None
        settled = self.assignment.settle(now_ms)
        alarm_ms = self._next_alarm(now_ms)
        if settled is None:
            return Decision(alarm_ms=alarm_ms) if alarm_ms is not None else NOTHING
        return Decision(workers=plans.clipped(self.horizon_ms, *settled, []), alarm_ms=alarm_ms)

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share of the chunks' time still planned, equal for all chunks: the next phase dispatches all again."""
        if job not in self.at_edge:
            return 1.0
        row, edge = self.jobs[job], self.at_edge[job]
        times = typed.chunk_times(row, self.speed)
        cloud = (row.num_chunks or 0) - edge
        each_ms = times.remote if edge else times.local
        future = self._slots(row.worker_type).shard.future(now_ms, np.array([job]))
        left_ms = int((future.end_ms - future.start_ms).sum())
        if cloud:
            _, end_ms = self.assignment.cloud_spans[job] if edge else self.assignment.planned[job]
            left_ms += cloud * min(each_ms, max(0, end_ms - now_ms))
        return min(1.0, left_ms / (edge * times.remote + cloud * each_ms))

    def release_plans(self, now_ms: int) -> Decision:
        """End of all plans of workers and jobs."""
        jobs = [
            (job, start_ms if 0 <= start_ms < now_ms else NONE, NONE)
            for job, (start_ms, _) in sorted(self.assignment.planned.items())
        ]
        named = [
            np.stack([np.full(len(worker_slots.server), role), worker_slots.server, worker_slots.number], axis=1)
            for role, worker_slots in ((_WORKER, self.workers), (_PS, self.assignment.ps))
        ]
        in_cloud = [(role, CLOUD, job) for job, *_ in jobs for role in (_WORKER, _PS)]
        rows = plans.table([], len(Placement._fields))
        return Decision(
            workers=WorkerPlan(np.concatenate([*named, plans.table(in_cloud, 3)]), rows, plans.table(jobs, 3))
        )

    def state(self) -> dict[str, Any]:
        now_ms = 0  # bars that have ended do no harm
        names = sorted(self.shards, key=str)
        return {
            "names": names, "shards": [self.shards[name].shard.state(now_ms) for name in names],
            "dispatched": self.dispatched, "at_edge": sorted(self.at_edge.items()), "waiting": list(self.waiting),
            "stored": self.storage.state(), **self.assignment.state(), "due_ms": self.due_ms,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        for name, saved in zip(state["names"], state["shards"], strict=True):
            self._slots(name).shard.restore(saved)
        self.dispatched = state["dispatched"]
        self.assignment.restore(state)
        self.at_edge = {int(job): int(count) for job, count in state["at_edge"]}
        self.waiting = list(state["waiting"])
        self.storage.restore(state["stored"])
        self.due_ms = state["due_ms"]

    def _slots(self, kind: str | None) -> SlotsOfType:
        """Workers that serve jobs of that type."""
        name = self.workers.name(kind)
        if name not in self.shards:
            chosen = self.workers.of(kind)
            server = self.workers.server[chosen]
            away = [self.cluster.servers[s].away for s in server.tolist()]
            self.shards[name] = SlotsOfType(
                server, self.workers.number[chosen], Shard(len(chosen), away if any(away) else None)
            )
        return self.shards[name]

    def _servers_and_shards(self) -> Iterator[tuple[np.ndarray, Shard]]:
        return ((slots.server, slots.shard) for slots in self.shards.values())

    def _uses_cloud(self, row: Job) -> bool:
        return self.model.cloud and self.cluster.unlimited_cloud and row.cloud_upload_ms is not None

    def _homeless(self, row: Job) -> Reason | None:
        """Reason why the job could never be dispatched, even to the empty cluster."""
        if self._uses_cloud(row):
            return None
        slots = self._slots(row.worker_type)
        if not len(slots.server):
            return Reason("no_worker_of_type", {"type": row.worker_type or "", "types": list(self.workers.kinds)})
        most = self.storage.most(row, slots.server)
        if most is not None and most < (row.num_chunks or 0):
            return Reason("storage_too_small", {"chunks": row.num_chunks, "chunk_mb": row.chunk_mb, "most": most})
        return None

    def _dispatch(self, now_ms: int, job: int) -> Decision | None:
        """Dispatch of one job by A_greedy (Algorithm 2); None if storage keeps it out."""
        row = self.jobs[job]
        assert row.num_chunks is not None
        slots, times, chunks = self._slots(row.worker_type), typed.chunk_times(row, self.speed), row.num_chunks
        key = chunks * times.remote
        upload = typed.uploads(row, slots.server)
        quotes = slots.shard.quote(now_ms + upload, upload, key, times.remote)
        costs = dispatch.cloud_costs(row, times) if self._uses_cloud(row) else dispatch.NO_CLOUD
        room = self.storage.room(now_ms, row, self._servers_and_shards())
        chosen = dispatch.chosen(quotes, times.remote, chunks, costs, slots.server, room)
        if len(chosen) < chunks and not self._uses_cloud(row):
            return None
        order = self.dispatched
        self.dispatched += 1
        self.at_edge[job] = len(chosen)
        self.storage.keep(job, slots.server[chosen])
        bars: Bars | None = None
        displaced: list[tuple[int, int]] = []
        if len(chosen):
            bars, displaced = slots.shard.insert(
                now_ms, chosen, np.arange(len(chosen)), now_ms + upload[chosen], job=job, order=order, key=key,
                work_ms=times.remote, weight=1.0 / chunks,
            )  # fmt: skip
        cloud = dispatch.cloud_part(now_ms, row, chunks - len(chosen), times)
        cost = dispatch.cost(row, quotes, upload, chosen, times, cloud)
        values = {
            "edge": len(chosen), "servers": len(np.unique(slots.server[chosen])), "cloud": cloud.chunks, **cost,
            "displaced": [other for other, _ in displaced],
        }  # fmt: skip
        verdicts = [Verdict(job, "admitted", Reason("dispatched", values))]
        for other, chunks in displaced:
            values = {"by": job, "by_id": row.id, "chunks": chunks, **cost}
            verdicts.append(Verdict(other, "preempted", Reason("displaced", values)))
        plan = self._planned(now_ms, job, slots, bars, cloud)
        return Decision(verdicts=tuple(verdicts), workers=plan, alarm_ms=self._next_alarm(now_ms))

    def _planned(self, now_ms: int, job: int, slots: SlotsOfType, bars: Bars | None, cloud: CloudPart) -> WorkerPlan:
        """New plans of the workers that got a chunk, and of the jobs on them."""
        parts, named, changes = [], [], []
        if cloud.chunks:
            chunks = self.jobs[job].num_chunks or 0
            own = np.full(cloud.chunks, job)
            parts.append(
                plans.bars(
                    own, _WORKER, CLOUD, cloud.start_ms, cloud.end_ms, NONE, np.arange(chunks - cloud.chunks, chunks)
                )
            )
            named.append(np.array([(_WORKER, CLOUD, job)]))
        if bars is None:  # all in one place, the parameter server too
            parts.append(plans.bars(np.array([job]), _PS, CLOUD, cloud.start_ms, cloud.end_ms, NONE, NONE))
            named.append(np.array([(_PS, CLOUD, job)]))
            changes = self.assignment.whole_in_cloud(job, cloud.start_ms, cloud.end_ms)
        else:
            server, number = slots.server[bars.row], slots.number[bars.row]
            parts.insert(0, plans.bars(bars.job, _WORKER, server, bars.start_ms, bars.end_ms, number, bars.chunk))
            touched = np.unique(bars.row)
            named.insert(
                0, np.stack([np.full(len(touched), _WORKER), slots.server[touched], slots.number[touched]], axis=1)
            )
            if cloud.chunks:
                self.assignment.partly_in_cloud(job, cloud.start_ms, cloud.end_ms)
            future = slots.shard.future(now_ms, np.unique(bars.job))
            changes = self.assignment.follow(now_ms, future.job, future.start_ms, future.end_ms)
        return plans.clipped(self.horizon_ms, np.concatenate(named), np.concatenate(parts), changes)

    def _next_alarm(self, now_ms: int) -> int | None:
        """Time of the next alarm.

        Now if parameter servers change or an alarm is due, otherwise the next span of a job or release of storage.
        """
        if self.assignment.changed or self.due_ms == now_ms:
            self.due_ms = now_ms
            return now_ms
        times = [start_ms] if (start_ms := self.assignment.next_start(now_ms)) is not None else []
        if self.waiting and self.storage.kind == "chunk":
            for _, shard in self._servers_and_shards():
                _, _, ends = shard.unfinished(now_ms)
                if len(ends):
                    times.append(int(ends.min()))
        self.due_ms = min(times, default=None)
        return self.due_ms


def _lasting(cluster: Cluster) -> typed.WorkerSlots:
    """Workers on servers that return: on a server that leaves for good a chunk might wait for ever."""
    return typed.worker_slots(
        cluster,
        _WORKER,
        [i for i, server in enumerate(cluster.servers) if not any(end >= MAX_INT for _, end in server.away)],
    )


def _steady(cluster: Cluster) -> typed.WorkerSlots:
    """Parameter servers on servers without outages."""
    return typed.worker_slots(cluster, _PS, [i for i, server in enumerate(cluster.servers) if not server.away])
