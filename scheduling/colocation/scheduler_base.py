"""Base class of Harmony and its baselines: sites, job facts, and conversion of group changes to a Decision.

Everything that happens in one instant is collected and decided on together, in `_decide`. A bar of a job is its
interval in a group, without a server; the servers are in the `grouped` event of the group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.colocation.execution import COLOCATION
from scheduling.colocation.job_mapping import NATIVE, SOURCES, Facts, facts
from scheduling.colocation.memory.usage import USABLE, held_gb, machines_needed, usage
from scheduling.colocation.site_pool import Change, Group, Pool, Record
from scheduling.kernel.parameters import Parameters, parameter
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import NONE, Placement, Role
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.values import SITES, Cluster, Job

_WORKER = int(Role.WORKER)


def cloud_pool() -> Any:
    """Parameter of every scheduler that forms groups."""
    return parameter(
        100,
        "Maximum number of machines of the cloud site; the first ones are used",
        low=0,
        high=100_000,
        title="Cloud machines",
    )


@dataclass(frozen=True, slots=True)
class GroupParameters(Parameters):
    """Parameters of schedulers that form groups whenever something happens."""

    quantise: bool = parameter(
        False,
        "Decide only at the start of slots, as slotted schedulers do, instead of immediately",
        title="Decisions only at slot starts",
    )
    cloud_pool: int = cloud_pool()


class GroupedScheduler(BaseScheduler, ABC):
    """Base of group schedulers: a subclass defines how a group runs (`_form`) and reacts to changes (`_decide`)."""

    model = COLOCATION
    alternatives = SOURCES
    spill = True  # whether inputs and models may lie on disk
    balanced = False  # jobs go to the site with the least work for its machines, instead of the edge first

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.pools: list[Pool] = []
        self.site_of: dict[int, int] = {}  # server -> its pool
        for site in SITES:
            members = [
                i for i, server in enumerate(cluster.servers) if server.site == site and "worker" in server.roles
            ]
            if site == "cloud":
                members = members[: self.parameters.cloud_pool]
            if members:
                self.site_of.update(dict.fromkeys(members, len(self.pools)))
                self.pools.append(Pool(cluster, members, self.facts, self._form))
        self.pool_of: dict[int, int] = {}  # job -> its pool, while it is neither done nor rejected
        self.known: dict[int, Facts] = {}
        self.next_group = 0
        self.finished: list[list[int]] = []  # [pool, group that a job has left] since the last decision
        self.moved: list[int] = []  # servers that left or returned since
        self.horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None

    def facts(self, job: int) -> Facts:
        """Properties of a job that has some."""
        found = self.known.get(job)
        if found is None:
            known = facts(self.jobs[job])
            assert known is not None
            found = self.known[job] = known
        return found

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        reason = self._impossible(job)
        if reason is not None:
            self.known.pop(job, None)
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        pool = self._choose(job)
        self.pool_of[job] = pool
        self._arrived(self.pools[pool], job)
        known = self.facts(job)
        values = {"comp_ms": known.comp, "comm_ms": known.comm, "iterations": known.iterations}
        return Decision(
            verdicts=(Verdict(job, "admitted", Reason("job_known", values)),), alarm_ms=self._due_ms(now_ms)
        )

    def on_completion(self, now_ms: int, job: int) -> Decision:
        pool = self.pool_of.pop(job)
        self._left(self.pools[pool], job)
        self.finished.append([pool, self.pools[pool].finish(job), job])
        return Decision(alarm_ms=self._due_ms(now_ms))

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        if server not in self.site_of:
            return NOTHING
        self.moved.append(server)
        return Decision(alarm_ms=self._due_ms(now_ms))

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        verdicts: list[Verdict] = []
        events: list[tuple[str, Mapping[str, Any]]] = []
        for number, pool in enumerate(self.pools):
            change = Change(now_ms)
            finished = [(group, job) for at, group, job in self.finished if at == number]
            moved = [server for server in self.moved if self.site_of[server] == number]
            before = self._used(pool)
            self._decide(pool, change, finished, moved)
            for job, record in sorted(change.before.items()):
                self._follow(pool, change, job, record, plan, finishes, verdicts)
            events += [("grouped", self._grouped_data(pool, id_)) for id_ in sorted(change.groups)]
            after = self._used(pool)
            if change.groups - change.adapted:
                cause = self._cause(finished, moved)
                values = {
                    "site": number,
                    "cause": cause,
                    "before": before,
                    "after": after,
                    "jobs": sorted(change.before),
                }
                events.append(("regrouped", values))
        for number, _, job in self.finished:
            self.known.pop(job, None)
            self.pools[number].powers.pop(job, None)
        self.finished, self.moved = [], []
        next_ms = self._next_alarm(now_ms)
        alarm_ms = None if next_ms is None else self._due_ms(max(now_ms + 1, next_ms))
        return Decision(plan, finishes, tuple(verdicts), events=tuple(events), alarm_ms=alarm_ms)

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        done = self.pools[self.pool_of[job]].of[job].at(now_ms)
        return max(0.0, 1.0 - done / self.facts(job).iterations)

    def release_plans(self, now_ms: int) -> Decision:
        """End of all groups."""
        return Decision(
            events=tuple(("grouped", empty_group(id_)) for pool in self.pools for id_ in sorted(pool.groups))
        )

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        for pool in self.pools:
            pool.available = {s for s in pool.servers if not self.cluster.servers[s].is_away(now_ms)}
        if isinstance(before, GroupedScheduler):
            self.next_group = before.next_group

    def state(self) -> dict[str, Any]:
        return {
            "pools": [pool.state() for pool in self.pools],
            "pool_of": np.array(sorted(self.pool_of.items()), dtype=np.int64).reshape(-1, 2),
            "next_group": self.next_group,
            "finished": self.finished,
            "moved": self.moved,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.pool_of = dict(state["pool_of"].tolist())
        self.next_group = state["next_group"]
        self.finished = [[int(n) for n in row] for row in state["finished"]]
        self.moved = [int(server) for server in state["moved"]]
        for pool, saved in zip(self.pools, state["pools"], strict=True):
            pool.restore(saved)

    def _due_ms(self, at_ms: int) -> int:
        """Time of the decision about events at `at_ms`; a server that leaves or returns never waits for a slot."""
        if self.moved or not self.parameters.quantise:
            return at_ms
        slot_ms = self.cluster.slot_ms
        return -(-at_ms // slot_ms) * slot_ms

    @abstractmethod
    def _form(self, pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
        """Group of the jobs on the servers."""

    def _cause(self, finished: Sequence[tuple[int, int]], moved: Sequence[int]) -> str:
        """Cause of a change of groups, for the log."""
        return "machines" if moved else "completion" if finished else "arrival"

    @abstractmethod
    def _decide(self, pool: Pool, change: Change, finished: list[tuple[int, int]], moved: list[int]) -> None:
        """Regrouping after arrivals, after `finished` (group, job), and after servers have left or returned."""

    def _arrived(self, pool: Pool, job: int) -> None:
        """Registration of a job that is new at the site."""
        pool.take(job)

    def _machines(self, pool: Pool, change: Change, moved: Sequence[int]) -> list[int]:
        """Groups that lost servers: these leave them; returned servers become present again."""
        shrunk: set[int] = set()
        for server in moved:
            if not self.cluster.servers[server].is_away(change.now_ms):
                pool.available.add(server)
                continue
            pool.available.discard(server)
            shrunk.update(group.id for group in pool.groups.values() if server in group.servers)
        for id_ in sorted(shrunk):
            group = pool.groups[id_]
            left = [server for server in group.servers if server in pool.available]
            if left and self._holds(pool, left, group.jobs):
                pool.place(change, id_, left, group.jobs)
            else:
                for job in group.jobs:
                    pool.leave(change, job)
                pool.dissolve(change, id_)
        return sorted(shrunk)

    def _holds(self, pool: Pool, servers: Sequence[int], jobs: Sequence[int]) -> bool:
        """True if the memory of these machines is enough for the jobs together."""
        memory_gb = min(pool.memory[s] for s in servers)
        needs = [self._needs(job, memory_gb) for job in jobs]
        return sum(n[0] for n in needs) + max((n[1] for n in needs), default=0.0) <= len(servers) + 1e-9

    def _left(self, pool: Pool, job: int) -> None:
        """Registration of a completed job that is still in its group."""

    def _profiles(self, job: int) -> bool:
        """True if the job is being profiled."""
        return False

    def _next_alarm(self, now_ms: int) -> int | None:
        """Time of the next decision without an event."""
        return None

    def _impossible(self, job: int) -> Reason | None:
        """Reason to reject the job: no site can ever run it."""
        known = facts(self.jobs[job])
        if known is None:
            missing = next(part for part in NATIVE if getattr(self.jobs[job], part) is None)
            return Reason("missing_part", {"part": missing})
        if not self.pools:
            return Reason("no_machines", {})
        self.known[job] = known
        if any(self._fits(pool, job) for pool in self.pools):
            return None
        return self._too_small(job)

    def _too_small(self, job: int) -> Reason:
        """Reason to reject a job that no site can hold; it states the machines that `_fits` tests."""
        pool = max(self.pools, key=lambda p: len(p.servers) * p.least_memory)
        need = sum(self._needs(job, pool.least_memory)) * pool.least_memory * USABLE
        return Reason(
            "memory_too_small",
            {"need": need, "most": len(pool.servers) * pool.least_memory * USABLE, "spill": self.spill},
        )

    def _fits(self, pool: Pool, job: int) -> bool:
        """True if all machines of the site together hold the job alone."""
        return sum(self._needs(job, pool.least_memory)) <= len(pool.servers) + 1e-9

    def _needs(self, job: int, memory_gb: float) -> tuple[float, float]:
        """Machines of this memory that the job fills: what adds up in a group, what only its largest job takes."""
        all_or_nothing = float(self.spill)
        return machines_needed(self.facts(job).data, memory_gb, all_or_nothing, all_or_nothing)

    def _choose(self, job: int) -> int:
        """Pool for a job: the edge where it fits, else the cloud; or the site with the least work for its machines."""
        fitting = [number for number, pool in enumerate(self.pools) if self._fits(pool, job)]
        if not self.balanced:
            return fitting[0]
        return min(fitting, key=lambda number: (self._load(self.pools[number]), number))

    def _load(self, pool: Pool) -> float:
        """Remaining computation of the site's jobs, in ms of all its machines."""
        work = sum(
            self.facts(j).comp * (self.facts(j).iterations - r.done) / max(pool.power(j))
            for j, r in sorted(pool.of.items())
        )
        return work / len(pool.servers)

    def _used(self, pool: Pool) -> list[float]:
        """Utilization [CPU, network] by Eq. (4) over all available machines; idle ones count as 0."""
        totals = [0.0, 0.0]
        for group in pool.groups.values():
            for part, share in enumerate(group.utilization):
                totals[part] += len(group.servers) * share
        return [total / max(1, len(pool.available)) for total in totals]

    def _follow(
        self, pool: Pool, change: Change, job: int, before: Record, plan: dict[int, list[Placement]],
        finishes: dict[int, int], verdicts: list[Verdict],
    ) -> None:  # fmt: skip
        """Record of the consequences of a job's new record: its bar, its end and its decision."""
        record, now_ms = pool.of[job], change.now_ms
        if record == before:
            return
        if job in change.lost:
            values = {"iterations": change.lost[job], "lost": before.at(now_ms) - change.lost[job]}
            verdicts.append(Verdict(job, "preempted", Reason("out_of_memory", values)))
        if record.group == NONE:
            if before.group != NONE:
                plan[job] = []
                verdicts.append(Verdict(job, "paused", self._why_paused(pool, change, job)))
            return
        group = pool.groups[record.group]
        finish_ms = max(now_ms, pool.finish_ms(job))
        end_ms = finish_ms if self.horizon_ms is None else min(finish_ms, self.horizon_ms)
        plan[job] = (
            [Placement(job, _WORKER, NONE, now_ms, end_ms, len(group.servers), group=group.id)]
            if end_ms > now_ms
            else []
        )
        if end_ms == finish_ms:
            finishes[job] = finish_ms
        kind = None
        if before.group == NONE:
            kind = "started" if before.begun_ms == NONE else "resumed"
        elif record.group != before.group or record.ready_ms not in (before.ready_ms, now_ms):
            kind = "moved"
        if kind is not None:
            values = {
                "group": group.id, "machines": len(group.servers), "jobs": len(group.jobs), "pace_ms": record.pace_ms,
                "away_ms": record.ready_ms - now_ms if record.ready_ms > now_ms else 0,
            }  # fmt: skip
            verdicts.append(Verdict(job, kind, self._why_grouped(pool, job, values)))

    def _why_grouped(self, pool: Pool, job: int, values: dict[str, Any]) -> Reason:
        """Reason why a job enters a group. values: those of the code `grouped`."""
        return Reason("grouped", values)

    def _why_paused(self, pool: Pool, change: Change, job: int) -> Reason:
        """Reason why a job leaves its group."""
        return Reason("measured" if job in change.measured else "left_out", {"iterations": pool.of[job].done})

    def _grouped_data(self, pool: Pool, id_: int) -> dict[str, Any]:
        """Data of a `grouped` event; a dissolved group has no jobs."""
        group = pool.groups.get(id_)
        if group is None:
            return empty_group(id_)
        cpu, net = group.utilization
        data, size = [self.facts(job).data for job in group.jobs], len(group.servers)
        held = [held_gb(one, size, a, b) for one, a, b in zip(data, group.disk, group.model, strict=True)]
        return {
            "group": id_, "servers": list(group.servers), "jobs": list(group.jobs), "machines": len(group.servers),
            "iteration_ms": group.times.iteration_ms if group.coordinated else None, "cpu_utilization": cpu,
            "net_utilization": net, "disk_ratios": list(group.disk), "model_disk_ratios": list(group.model),
            "comp_ms": list(group.times.comp), "comm_ms": list(group.times.comm), "pace_ms": list(group.paces_ms),
            "ready_ms": [pool.of[job].ready_ms for job in group.jobs],
            "bound": _bound(group) if group.coordinated else None,
            "profiling": [int(self._profiles(job)) for job in group.jobs], "memory_gb": held,
            "memory_used": usage(data, pool.group_machines(group.servers), group.disk, group.model),
        }  # fmt: skip


def empty_group(id_: int) -> dict[str, Any]:
    """Data of a `grouped` event about a dissolved group."""
    return {
        "group": id_, "servers": [], "jobs": [], "machines": 0, "iteration_ms": None, "cpu_utilization": 0.0,
        "net_utilization": 0.0, "disk_ratios": [], "model_disk_ratios": [], "comp_ms": [], "comm_ms": [], "pace_ms": [],
        "ready_ms": [], "bound": None, "profiling": [], "memory_gb": [], "memory_used": 0.0,
    }  # fmt: skip


def _bound(group: Group) -> str:
    """Binding term of Eq. (1)."""
    comp, comm = group.times.comp, group.times.comm
    terms = {"cpu": sum(comp), "net": sum(comm), "job": max(c + n for c, n in zip(comp, comm, strict=True))}
    return max(terms, key=lambda name: terms[name])
