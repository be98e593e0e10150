"""Harmony: jobs that complement each other share machines, in groups whose subtasks are coordinated.

Algorithm 1 and its steps are in scheduling/colocation/selection/; here are the rules of when to regroup (Section
IV-B4), profiling (IV-B1) and what memory does (IV-C). One instance for each site. The paper's own scheduler is not
public; what it leaves open is decided beside each rule.

Differs from the paper:
- Algorithm 1 as group_selection.py says; it also runs over all jobs when a job arrives and no other job waits, if that
  gains `regroup_gain`.
- A regrouping is chosen only among those that gain `regroup_gain`: the fewest jobs, if more of them gain less than that
  again. Sets of groups that cannot gain as much even at full utilization are skipped, which changes no choice.
- When a server becomes unavailable, its group continues on the remaining machines, and its jobs are regrouped like
  those of a group that became empty.
- Jobs that arrive in the same instant are profiled together; the first ones on an empty site are grouped by Algorithm
  1.
- A job that moves has its iteration under way counted by its part instead of waiting for its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scheduling.colocation.estimates.profiling import Profiling
from scheduling.colocation.estimates.time_estimates import Beliefs
from scheduling.colocation.execution import Colocation
from scheduling.colocation.harmony_parameters import HarmonyParameters
from scheduling.colocation.machine_reassignment import hand_over
from scheduling.colocation.memory.spilling import Spilling
from scheduling.colocation.scheduler_base import GroupedScheduler
from scheduling.colocation.selection.group_selection import choose
from scheduling.colocation.selection.grouping import RISES, Groups, Work, grouping
from scheduling.colocation.selection.regrouping import Side, candidate_sets, similar
from scheduling.colocation.site_pool import Change, Group, Pool
from scheduling.model.values import Cluster, Job

MAX_REMEMBERED = 512  # results of Algorithm 1


class Found(NamedTuple):
    """Result of a search, with groups computed on demand."""

    score: float
    groups: Callable[[], Groups]


class Tried(NamedTuple):
    """Score of a set of groups with the waiting jobs, and what was found for them."""

    score: float
    jobs: list[int]
    found: Found | None


class Harmony(GroupedScheduler):
    """Harmony: groups, estimated times, and the rules of regrouping."""

    name = "harmony"
    title = "Harmony"
    paper = (
        "Lee et al.: Harmony: A Scheduling Framework Optimized for Multiple "
        "Distributed Machine Learning Jobs, ICDCS 2021"
    )
    summary = (
        "Co-locates jobs with complementary computation and communication, so that both CPUs and network are busy."
    )
    model = Colocation(fills=True)
    Parameters: ClassVar[type] = HarmonyParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        chosen = self.parameters
        self.spill = chosen.memory != "none"
        self.balanced = chosen.sites == "balanced"
        super().start(cluster, jobs, rng)
        self.beliefs = Beliefs(self.facts, self.rng, chosen.profile_error, chosen.opposed_errors)
        self.profiling = Profiling(self.beliefs, self._roomy)
        self.spilling = Spilling(chosen.memory, chosen.disk_ratio, self.facts)
        self.fresh: list[int] = []  # jobs since the last decision: arrived, and with known times
        self.remembered: dict[Any, Found | None] = {}

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "beliefs": self.beliefs.state(),
            "fresh": self.fresh,
            "profiling": list(self.profiling.pool_of.items()),
            "spilling": self.spilling.state(self.pools),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.beliefs.restore(state["beliefs"])
        self.fresh = [int(job) for job in state["fresh"]]
        self.profiling.pool_of = {int(job): int(pool) for job, pool in state["profiling"]}
        super().restore(state)
        self.spilling.restore(state["spilling"], self.pools)

    def _arrived(self, pool: Pool, job: int) -> None:
        pool.take(job)
        if self.parameters.profiling == "online":
            self.profiling.pool_of[job] = self.pools.index(pool)
        else:
            self.fresh.append(job)
            self.beliefs.reveal(job)

    def _left(self, pool: Pool, job: int) -> None:
        self.profiling.pool_of.pop(job, None)
        self.spilling.wary.discard(job)

    def _form(self, pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
        times = pool.times(servers, jobs)
        spilled = self.spilling.of(pool, id_, servers, jobs, times)
        guess = pool.times(servers, jobs, self.beliefs.guess).utilization if self.beliefs.of else times.utilization
        return Group(
            id_, servers, jobs, times, [spilled.pace_ms] * len(jobs), spilled.disk, spilled.model, guess=guess,
            climb=spilled.climb, due_ms=spilled.due_ms,
        )  # fmt: skip

    def _decide(self, pool: Pool, change: Change, finished: list[tuple[int, int]], moved: list[int]) -> None:
        if not (finished or moved or self.fresh or self.profiling.pool_of):
            self.spilling.climb(pool, change)  # nothing else is due
            return
        self._learn(pool, change.now_ms)
        lost = self._machines(pool, change, moved)
        for id_ in sorted({id_ for id_, _ in finished}):
            if id_ in pool.groups and pool.groups[id_].jobs:
                pool.place(change, id_, pool.groups[id_].servers, pool.groups[id_].jobs)
        new = self._newly_known(pool, change)
        for id_, job in finished:
            if id_ in pool.groups:
                self._completed(pool, change, id_, job)
        for id_ in lost:
            self._repair(pool, change, id_ if id_ in pool.groups else None, forced=True)
        self._handle(pool, change, new)
        if pool.idle and (pool.groups or self._ready(pool)):
            self._repair(pool, change, None, forced=True)
        for group in [group for group in pool.groups.values() if not group.jobs]:
            pool.dissolve(change, group.id)
        self.profiling.begin(pool, change, self._new_id)
        if pool.idle and pool.groups:  # all other groups profile: the smallest group takes the unassigned machines
            group = min(pool.groups.values(), key=lambda g: (len(g.servers), g.id))
            pool.place(change, group.id, group.servers + pool.idle, group.jobs)
        for id_ in sorted(change.groups):
            self.spilling.run_out(pool, change, id_)
        self.spilling.climb(pool, change)
        for _, job in finished:
            self.beliefs.of.pop(job, None)

    # --- what the scheduler knows ---

    def _learn(self, pool: Pool, now_ms: int) -> None:
        """Online update of estimates from the iterations since the last decision, and of the current groups."""
        if self.parameters.profiling == "instant":
            return
        for group in pool.groups.values():
            for job in group.jobs:
                self.beliefs.learn(job, pool.of[job].at(now_ms))
            if group.jobs:
                group.guess = pool.times(group.servers, group.jobs, self.beliefs.guess).utilization

    def _newly_known(self, pool: Pool, change: Change) -> list[int]:
        """Jobs whose times become known now: new ones, and those that leave profiling. In job order."""
        if self.parameters.profiling == "online":
            return self.profiling.end(pool, self.pools.index(pool), change)
        new = [job for job in self.fresh if job in pool.of]
        self.fresh = [job for job in self.fresh if job not in pool.of]
        return new

    def _ready(self, pool: Pool) -> list[int]:
        """Waiting jobs whose times are known."""
        if not self.profiling.pool_of:
            return pool.waiting
        return [job for job in pool.waiting if job not in self.profiling]

    def _profiles(self, job: int) -> bool:
        return job in self.profiling

    def _next_alarm(self, now_ms: int) -> int | None:
        times = (self.profiling.next_ms(self.pools), self.spilling.next_ms(self.pools))
        return min((ms for ms in times if ms is not None), default=None)

    def _score(self, cpu: float, net: float) -> float:
        return self.parameters.cpu_weight * cpu + (1 - self.parameters.cpu_weight) * net

    def _worth(self, group: Group) -> float:
        """Machines x score: a group's part of Eq. (4)."""
        return len(group.servers) * self._score(*group.guess)

    def _total(self, pool: Pool) -> float:
        """Eq. (4) as one number; idle machines count as 0, else leaving them idle would pay."""
        return sum(self._worth(group) for group in pool.groups.values()) / max(1, len(pool.available))

    # --- memory ---

    def _roomy(self, pool: Pool, servers: Sequence[int], jobs: list[int]) -> bool:
        """True if the estimated memory of the jobs fits on the servers."""
        if self.spilling.fixed and not self.spilling.wary:
            return True
        return self._holds(pool, servers, jobs)

    def _needs(self, job: int, memory_gb: float) -> tuple[float, float]:
        return self.spilling.needs(job, memory_gb) if self.spilling.fixed else super()._needs(job, memory_gb)

    def _believed_needs(self, job: int, memory_gb: float) -> tuple[float, float]:
        return (0.0, 0.0) if self.spilling.careless([job]) else self._needs(job, memory_gb)

    # --- Algorithm 1 ---

    def _search(self, pool: Pool, jobs: list[int], machines: int) -> Found | None:
        """Algorithm 1 on these jobs, in this order; results are cached until an estimate changes."""
        key = (
            self.pools.index(pool),
            machines,
            tuple(jobs),
            tuple(self.beliefs.of.get(job) for job in jobs) if self.beliefs.of else (),
            len(self.spilling.wary),
        )
        if key not in self.remembered:
            if len(self.remembered) >= MAX_REMEMBERED:
                self.remembered.clear()
            self.remembered[key] = self._found(pool.work(jobs, machines, self.beliefs.guess, self._believed_needs))
        return self.remembered[key]

    def _found(self, work: Work) -> Found | None:
        weight = self.parameters.cpu_weight
        best = choose(work, weight, self.parameters.window, self.parameters.patience)
        return None if best is None else Found(best.score, lambda: grouping(work, best.jobs, best.groups, weight))

    def _apply(self, pool: Pool, change: Change, old: Sequence[int], jobs: list[int], found: Found | None) -> None:
        hand_over(pool, change, old, jobs, found.groups() if found is not None else None, self._new_id)

    def _new_id(self) -> int:
        self.next_group += 1
        return self.next_group - 1

    # --- arrivals ---

    def _handle(self, pool: Pool, change: Change, new: list[int]) -> None:
        """Placement of jobs whose times became known.

        While other jobs wait, these wait too; otherwise one joins the group that gains most, if any gains.
        """
        waiting = self._ready(pool)
        new = [job for job in new if job in waiting]
        if not new:
            return
        if not pool.groups:
            if pool.available:
                self._all(pool, change, forced=True)
            return
        alone, coming = False, set(new)
        for job in new:
            if any(other not in coming or other < job for other in self._ready(pool)):
                continue
            alone = True
            best = max(pool.groups.values(), key=lambda group: (self._gain(pool, group, job), -group.id))
            if self._gain(pool, best, job) > RISES:
                pool.place(change, best.id, best.servers, [*best.jobs, job])
        if alone:
            self._all(pool, change, forced=False)

    def _gain(self, pool: Pool, group: Group, job: int) -> float:
        """Gain of the group's part of Eq. (4) with the job; below 0 if memory is insufficient."""
        if not self._roomy(pool, group.servers, [*group.jobs, job]):
            return -1.0
        times = pool.times(group.servers, [*group.jobs, job], self.beliefs.guess)
        return len(group.servers) * self._score(*times.utilization) - self._worth(group)

    def _all(self, pool: Pool, change: Change, forced: bool) -> None:
        """Regrouping of all jobs of the site by Algorithm 1, if the gain is worth the moves."""
        now = self._total(pool)
        if not forced and now * (1 + self.parameters.regroup_gain) >= 1:
            return
        groups = [group for group in pool.groups.values() if not self.profiling.busy(group)]
        if len(groups) < len(pool.groups):
            return  # profiling is not interrupted
        jobs = pool.running(groups) + self._ready(pool)
        found = self._search(pool, jobs, len(pool.available))
        if found is not None and (forced or found.score >= now * (1 + self.parameters.regroup_gain)):
            self._apply(pool, change, [group.id for group in groups], jobs, found)

    # --- completions ---

    def _completed(self, pool: Pool, change: Change, id_: int, job: int) -> None:
        """Replacement of the completed job by one, two or three similar ones.

        Without any, its group is regrouped, with others if that pays.
        """
        group, waiting = pool.groups[id_], self._ready(pool)
        if waiting:
            times = pool.times(group.servers, [job, *waiting], self.beliefs.guess)
            comps, comms = np.array(times.comp), np.array(times.comm)
            found = similar(comps[0], comms[0], comps[1:], comms[1:])
            if found is not None:
                jobs = [*group.jobs, *(waiting[place] for place in found)]
                if self._roomy(pool, group.servers, jobs):
                    pool.place(change, id_, group.servers, jobs)
                    return
        self._repair(pool, change, id_, forced=not group.jobs)

    def _repair(self, pool: Pool, change: Change, id_: int | None, forced: bool) -> None:
        """Regrouping of group `id_`, or of idle machines, with waiting jobs and other groups, if it gains enough.

        forced: the machines have to be assigned, whatever the gain.
        """
        own = [] if id_ is None else [id_]
        others = [
            Side(group.id, len(group.jobs), self._score(*group.guess))
            for group in pool.groups.values()
            if group.id != id_ and not self.profiling.busy(group)
        ]
        if id_ is not None and self.profiling.busy(pool.groups[id_]):
            return
        if not pool.available:
            return
        total, machines, gain = self._total(pool), len(pool.available), 1 + self.parameters.regroup_gain
        idle, waiting = len(pool.idle), self._ready(pool)
        tried: dict[int, Tried] = {}  # by the place in `sets`
        sets = [[*own, *chosen] for chosen in self._sets(others)]
        counts = [sum(len(pool.groups[g].servers) for g in chosen) + idle for chosen in sets]
        rests = [total - sum(self._worth(pool.groups[g]) for g in chosen) / machines for chosen in sets]
        # if all of its machines were busy
        most = [rest + count / machines for rest, count in zip(rests, counts, strict=True)]

        def score_of(place: int) -> float:
            if place not in tried:
                jobs = pool.running(pool.groups[g] for g in sets[place]) + waiting
                found = self._search(pool, jobs, counts[place])
                score = rests[place] + (found.score * counts[place] / machines if found is not None else 0.0)
                tried[place] = Tried(score, jobs, found)
            return tried[place].score

        least = 0.0 if forced else total * gain
        able = [place for place in range(len(sets)) if most[place] >= least]
        first = next((place for place in able if score_of(place) >= least), None)
        if first is None:
            return
        able = [place for place in able if place >= first]
        rivals = [place for place in able if most[place] > score_of(first) * gain]
        if any(score_of(place) > score_of(first) * gain for place in rivals):  # then the first is not enough
            best = max(score_of(place) for place in able)
            first = next(place for place in able if score_of(place) >= least and score_of(place) * gain >= best)
        self._apply(pool, change, sets[first], tried[first].jobs, tried[first].found)

    def _sets(self, others: list[Side]) -> list[list[int]]:
        """The sets of other groups that may take part."""
        return candidate_sets(others)
