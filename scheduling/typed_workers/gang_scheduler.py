"""Preemptive gangs on typed workers, the base of SRTF and Tiresias-L. Subclasses define the order.

Edge only. A gang is all-or-nothing, of `requested_workers` workers of the job's type; its chunks are spread evenly, so
that the work D p is done in D p / n. When jobs come, end, or change places, the jobs of the type are walked in their
order: each that fits into what is left runs, one that does not is skipped. Running jobs that are not taken stop;
the others start on servers that have the job's data first, then on those nearest. A start on servers without the data
holds the whole gang for the longest upload to them (a transfer).
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement, Role
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, Job
from scheduling.typed_workers import gang_order, workers
from scheduling.typed_workers.execution import TypedWorkers
from scheduling.typed_workers.gang_order import Walk
from scheduling.typed_workers.gang_pool import Gang, Key, Pool

_WORKER, _TRANSFER = int(Role.WORKER), int(Role.TRANSFER)


class TypedGangScheduler(BaseScheduler):
    """Base of gang schedulers: subclasses define `waiting_key` and `running_key`, ranks in ascending order.

    A waiting key ends with the job.
    """

    model = TypedWorkers(fixed=True)
    needs = workers.PARTS
    uses = ("requested_workers", "worker_type")
    keeps_plans = believes = True

    @abstractmethod
    def waiting_key(self, gang: Gang) -> Key:
        """Rank of a waiting job; it stays until the job starts or is moved."""

    @abstractmethod
    def running_key(self, gang: Gang) -> Key:
        """Rank of a running job among those that run and do not load; it stays while the job runs."""

    def compared(self, now_ms: int, gang: Gang) -> Key:
        """Rank of any running job among all, at this time."""
        return self.running_key(gang)

    @abstractmethod
    def started(self, now_ms: int, gang: Gang, again: bool, load_ms: int) -> Reason:
        """Reason for the start or resumption of a job now."""

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.workers = workers.worker_slots(cluster, _WORKER)
        self.horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else 1 << 60
        self.leaving = [i for i, server in enumerate(cluster.servers) if server.away]  # at times
        self.leaves = bool(self.leaving)
        self.ends = {
            i: server.away[-1][0]
            for i, server in enumerate(cluster.servers)
            if server.away and server.away[-1][1] >= MAX_INT
        }
        self.away = {i for i, server in enumerate(cluster.servers) if server.is_away(0)}
        self.pools: dict[str | None, Pool] = {}
        self.gangs: dict[int, Gang] = {}
        self.past: dict[int, Gang] = {}  # gangs of the previous phase, until their jobs are resubmitted
        self.overhead_ms: int = getattr(self.parameters, "overhead_ms", 0)

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        row = self.jobs[job]
        times = workers.judged(row)
        if isinstance(times, Reason):
            return Decision(verdicts=(Verdict(job, "rejected", times),))
        pool = self._pool(row.worker_type)
        most = self._most(pool, now_ms)
        if not most:
            reason = Reason("no_worker_of_type", {"type": row.worker_type or "", "types": list(self.workers.kinds)})
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        assert row.num_chunks is not None
        size = workers.gang_size(row, most)
        work_ms = -(-row.num_chunks * times.remote // size)
        upload_ms = row.upload_ms if row.upload_ms is not None and any(row.upload_ms) else None
        gang = self.gangs[job] = Gang(job, size, work_ms, pool, upload_ms)
        if job in self.past:
            self._remember(now_ms, gang, self.past.pop(job))
        if self.leaves:
            gang.pool.wait(gang, self.waiting_key(gang))
            return self._changed(now_ms, [pool])
        if size <= pool.spare:  # jobs of a lower rank keep their workers
            return self._decide(now_ms, [Walk([job], [])])
        gang.pool.wait(gang, self.waiting_key(gang))
        if not pool.running or (
            pool.loading_ms <= now_ms and gang_order.moved_by(gang.key, self.ahead_ms(now_ms)) > pool.running[-1][0]
        ):
            return NOTHING  # ranked behind all running jobs, and the free workers are too few
        return self._changed(now_ms, [pool])

    def on_completion(self, now_ms: int, job: int) -> Decision:
        gang = self.gangs.pop(job)
        del gang.pool.running[bisect_left(gang.pool.running, (self.running_key(gang), job))]
        gang.pool.release(gang)
        if self.leaves:
            return self._changed(now_ms, [gang.pool])
        return self._decide(now_ms, [self._fill(now_ms, gang.pool)]) if gang.pool.waiting else NOTHING

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """The gang keeps its workers, unless its new rank takes them from it."""
        gang = self.gangs[job]
        running = gang.pool.running
        del running[bisect_left(running, (self.running_key(gang), job))]
        assert rest.num_chunks is not None
        gang.left_ms += -(-rest.num_chunks * workers.chunk_times(rest).remote // gang.size)
        insort(running, (self.running_key(gang), job))
        self.prolonged(gang)
        decision = self._changed(now_ms, [gang.pool])
        plan, finishes = dict(decision.plan), dict(decision.finishes)
        if job not in plan:
            plan[job] = self._bars_of(now_ms, gang)
            if gang.finish_ms == max((bar.end_ms for bar in plan[job]), default=-1):
                finishes[job] = gang.finish_ms
        return Decision(plan, finishes, decision.verdicts, alarm_ms=self.next_alarm(now_ms))

    def prolonged(self, gang: Gang) -> None:
        """Hook for a running gang whose end has moved."""

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        return self._changed(now_ms, [pool for pool in self.pools.values() if server in pool.worker_slots])

    def next_alarm(self, now_ms: int) -> int | None:
        """Time at which jobs change ranks without an event."""
        return None

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        gang, row = self.gangs[job], self.jobs[job]
        whole_ms = -(-(row.num_chunks or 1) * workers.chunk_times(row).remote // gang.size)
        return max(0, gang.left_ms - gang.ran_ms(now_ms)) / whole_ms

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        self.away = {i for i, server in enumerate(self.cluster.servers) if server.is_away(now_ms)}
        if not isinstance(before, type(self)):
            return
        self.past = {job: gang for job, gang in before.gangs.items() if job not in kept}
        for job, *rest in before.state()["gangs"]:
            if job in kept:
                self._put([job, *rest])

    def taken_over(self, now_ms: int) -> Decision:
        self.past = {}
        self.gangs = dict(sorted(self.gangs.items()))
        alarm_ms = self.next_alarm(now_ms)
        return NOTHING if alarm_ms is None else Decision(alarm_ms=alarm_ms)

    def _remember(self, now_ms: int, gang: Gang, past: Gang) -> None:
        """Attained service and data locations of a resubmitted gang."""
        gang.data, gang.queue, gang.first_ms = set(past.data), past.queue, past.first_ms
        gang.executed_ms = past.executed_ms + past.ran_ms(now_ms)
        gang.stopped_ms = now_ms if past.worker_slots else past.stopped_ms
        if past.worker_slots and now_ms >= past.work_ms:
            gang.data.update(server for server, _ in past.worker_slots)

    def state(self) -> dict[str, Any]:
        return {
            "gangs": [
                [
                    g.job, g.size, g.left_ms, sorted(g.data), list(map(list, g.worker_slots)), g.start_ms, g.work_ms,
                    g.stopped_ms, g.first_ms, g.executed_ms, g.queue,
                ]
                for _, g in sorted(self.gangs.items())
            ],
            "away": sorted(self.away),
            "pools": list(self.pools),  # their order decides which one's jobs are placed first
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self.away = set(state["away"])
        for kind in state.get("pools", ()):
            self._pool(kind)
        for row in state["gangs"]:
            self._put(row)

    def _put(self, saved: Sequence[Any]) -> None:
        """A gang as `state` has it."""
        job, size, left_ms, data, worker_slots, start_ms, work_ms, stopped_ms, first_ms, executed_ms, queue = saved
        row = self.jobs[job]
        upload_ms = row.upload_ms if row.upload_ms is not None and any(row.upload_ms) else None
        gang = self.gangs[job] = Gang(
            job, size, left_ms, self._pool(row.worker_type), upload_ms, set(data),
            [(server, worker_slot) for server, worker_slot in worker_slots],
            start_ms, work_ms, stopped_ms, first_ms, executed_ms, queue,
        )  # fmt: skip
        if gang.worker_slots:
            for server, worker_slot in gang.worker_slots:
                gang.pool.free[server].remove(worker_slot)
            gang.pool.spare -= size
            gang.pool.loading_ms = max(gang.pool.loading_ms, work_ms)
            insort(gang.pool.running, (self.running_key(gang), job))
        else:
            gang.pool.wait(gang, self.waiting_key(gang))

    def _pool(self, kind: str | None) -> Pool:
        name = self.workers.name(kind)
        if name not in self.pools:
            worker_slots: dict[int, list[int]] = {}
            for at in self.workers.of(kind).tolist():
                worker_slots.setdefault(int(self.workers.server[at]), []).append(int(self.workers.number[at]))
            there = {server: list(own) for server, own in worker_slots.items() if server not in self.away}
            count = sum(map(len, there.values()))
            self.pools[name] = Pool(
                worker_slots,
                {server: there.get(server, []) for server in worker_slots},
                sum(map(len, worker_slots.values())),
                count,
                count,
            )
        return self.pools[name]

    def _most(self, pool: Pool, now_ms: int) -> int:
        """Workers that a gang can ever have at once, without those of servers that left for good."""
        return pool.most - sum(
            len(pool.worker_slots.get(server, ())) for server, ms in self.ends.items() if ms <= now_ms
        )

    def _changed(self, now_ms: int, pools: list[Pool], verdicts: Sequence[Verdict] = ()) -> Decision:
        """Update after an event in these pools: servers that leave or return at this time come first."""
        stopped: list[Gang] = []
        for server in self.leaving:
            gone = self.cluster.servers[server].is_away(now_ms)
            if gone == (server in self.away):
                continue
            for gang in [
                gang for gang in self.gangs.values() if gone and any(s == server for s, _ in gang.worker_slots)
            ]:
                self._stop(now_ms, gang)
                stopped.append(gang)
            (self.away.add if gone else self.away.discard)(server)
            for pool in self.pools.values():
                if server in pool.worker_slots:
                    pool.show(server, not gone)
                    pools = pools if any(pool is other for other in pools) else [*pools, pool]
        for gang in stopped:
            pools = pools if any(gang.pool is other for other in pools) else [*pools, gang.pool]
        left = [Verdict(gang.job, "preempted", Reason("lane_left", {"workers": gang.size})) for gang in stopped]
        return self._decide(
            now_ms, (self._walk(now_ms, pool) for pool in pools), [*verdicts, *left], [gang.job for gang in stopped]
        )

    def _decide(
        self, now_ms: int, walks: Iterable[Walk], verdicts: Sequence[Verdict] = (), stopped: Sequence[int] = ()
    ) -> Decision:
        """Execution of the changes, with their decisions. stopped: jobs that have already stopped."""
        plan: dict[int, list[Placement]] = {job: [] for job in stopped}
        finishes: dict[int, int] = {}
        decided = list(verdicts)
        for walk in walks:
            if walk.starts or walk.stops:
                self._apply(now_ms, walk, plan, finishes, decided)
        if not decided:
            return NOTHING
        return Decision(plan, finishes, tuple(decided), alarm_ms=self.next_alarm(now_ms))

    def _walk(self, now_ms: int, pool: Pool) -> Walk:
        if pool.loading_ms > now_ms:  # loading jobs keep their rank, others move ahead
            running = sorted((self.compared(now_ms, self.gangs[job]), job) for _, job in pool.running)
            return gang_order.walk(pool, self.gangs, running, 0)
        return gang_order.walk(pool, self.gangs, pool.running, self.ahead_ms(now_ms))

    def _fill(self, now_ms: int, pool: Pool) -> Walk:
        loading = pool.loading_ms > now_ms
        return self._walk(now_ms, pool) if loading else gang_order.fill(pool, self.gangs, self.ahead_ms(now_ms))

    def ahead_ms(self, now_ms: int) -> int:
        """Difference of the first numbers of the ranks of running jobs that do not load and of waiting jobs."""
        return 0

    def _apply(
        self,
        now_ms: int,
        walk: Walk,
        plan: dict[int, list[Placement]],
        finishes: dict[int, int],
        verdicts: list[Verdict],
    ) -> None:
        for job, by in walk.stops:
            gang = self.gangs[job]
            self._stop(now_ms, gang)
            plan[job] = []
            values = {"workers": gang.size, "by": by, "by_id": self.jobs[by].id}
            verdicts.append(Verdict(job, "preempted", Reason("outranked", values)))
        for job in walk.starts:
            gang = self.gangs[job]
            if gang.key:
                gang.pool.unwait(gang)
            again = gang.first_ms >= 0
            bars, load_ms = self._begin(now_ms, gang)
            plan[job] = bars
            if gang.finish_ms == max((bar.end_ms for bar in bars), default=-1):
                finishes[job] = gang.finish_ms
            verdicts.append(Verdict(job, "resumed" if again else "started", self.started(now_ms, gang, again, load_ms)))

    def _stop(self, now_ms: int, gang: Gang) -> None:
        pool = gang.pool
        del pool.running[bisect_left(pool.running, (self.running_key(gang), gang.job))]
        ran_ms = gang.ran_ms(now_ms)
        gang.left_ms -= ran_ms
        gang.executed_ms += ran_ms
        if now_ms >= gang.work_ms:
            gang.data.update(server for server, _ in gang.worker_slots)
        gang.pool.release(gang)
        gang.stopped_ms = now_ms
        gang.pool.wait(gang, self.waiting_key(gang))

    def _begin(self, now_ms: int, gang: Gang) -> tuple[list[Placement], int]:
        """Bars on new workers to the end of the work, the horizon or an outage of a server; the loading time."""
        pool, job = gang.pool, gang.job
        pool.take(gang)
        worker_slots = gang.worker_slots
        load_ms = self.overhead_ms if gang.first_ms >= 0 else 0
        if gang.upload_ms is not None:
            load_ms += max([gang.upload_ms[server] for server, _ in worker_slots if server not in gang.data], default=0)
        if gang.first_ms < 0:
            gang.first_ms = now_ms
        gang.start_ms, gang.work_ms, gang.key = now_ms, now_ms + load_ms, ()
        pool.loading_ms = max(pool.loading_ms, gang.work_ms)
        insort(pool.running, (self.running_key(gang), job))
        return self._bars_of(now_ms, gang), load_ms

    def _bars_of(self, now_ms: int, gang: Gang) -> list[Placement]:
        """Bars of a running gang from now to the end of the work, the horizon or an outage of a server."""
        job, worker_slots = gang.job, gang.worker_slots
        end_ms = min(gang.finish_ms, self.horizon_ms)
        if self.leaves:
            for server, _ in worker_slots:
                left_ms = self.cluster.servers[server].next_away_ms(now_ms)
                end_ms = end_ms if left_ms is None else min(end_ms, left_ms)
        work_ms = max(now_ms, min(gang.work_ms, end_ms))
        bars = (
            [Placement(job, _TRANSFER, server, now_ms, work_ms, 1, worker_slot) for server, worker_slot in worker_slots]
            if now_ms < work_ms
            else []
        )
        if work_ms < end_ms:
            bars += [
                Placement(job, _WORKER, server, work_ms, end_ms, 1, worker_slot) for server, worker_slot in worker_slots
            ]
        return bars
