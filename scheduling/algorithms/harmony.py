"""Harmony (004, ICDCS 2021): jobs that complement each other share machines, in groups whose subtasks are coordinated.

Algorithm 1 and its steps are in scheduling/harmony/; here are the rules of when to regroup (Section IV-B4), profiling (IV-B1) and what memory
does (IV-C). One instance for each site. All rules with the decisions of the specification, (b); the paper's own scheduler is not public.

Differs from the paper:
- Algorithm 1 as algorithm1.py says; it also runs over all jobs when a job arrives that nobody waited for, if that gains `regroup_gain`.
- A regrouping is chosen only among those that gain `regroup_gain`: the fewest jobs, if more of them gain less than that again. Sets of groups that
  cannot gain as much even at full utilization are not looked at, which changes no choice.
- When a server leaves, its group goes on with the machines that are left, and its jobs are regrouped like those of a group that became empty.
- Jobs that arrive in the same instant are profiled together; the first ones on an empty site are grouped by Algorithm 1.
- A job that moves has its iteration under way counted by its part instead of waiting for its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from scheduling.harmony.algorithm1 import PATIENCE, choose
from scheduling.harmony.grouped import GroupedScheduler
from scheduling.harmony.grouping import RISES, Groups, Work, grouping
from scheduling.harmony.memory import OUT_OF_MEMORY, Ratios, adapted, fixed, machines_needed, usage
from scheduling.harmony.performance import WEIGHT
from scheduling.harmony.pool import Change, Group, Pool
from scheduling.harmony.regrouping import Side, candidate_sets, similar
from scheduling.mapping import Facts
from scheduling.model import NONE, Cluster, Job
from scheduling.registry import Parameters, parameter

PROFILED_ITERATIONS = 3
MOST_PROFILING = 8  # jobs that a group profiles at the same time
SAMPLE_NOISE = 0.02  # of the logarithm of one iteration's times
KEEP = 0.7  # of the moving average, at each iteration
MOST_CLIMBED = 64  # disk ratios of groups that are remembered: a group is often formed again a moment later
MOST_REMEMBERED = 512  # results of Algorithm 1
GAIN = 0.05


@dataclass(frozen=True, slots=True)
class RegroupingParameters(Parameters):
    """Those of Harmony and of the Oracle."""

    cpu_weight: float = parameter(WEIGHT, "weight of the CPU against the network in a utilization; above 0.5", low=0.5, high=1.0)
    regroup_gain: float = parameter(GAIN, "least relative gain in utilization for which jobs are regrouped", low=0.0, high=10.0)
    profiling: str = parameter(
        "instant", "instant: times are known at arrival; online: measured in a group", choices=("instant", "online")
    )
    profile_error: float = parameter(0.0, "largest relative error of a job's believed times", low=0.0, high=0.95)
    opposed_errors: bool = parameter(False, "errors of a job's computation and communication have opposite signs")
    memory: str = parameter(
        "adaptive", "adaptive: disk ratios by hill climbing; fixed: disk_ratio for all; none: nothing is spilled",
        choices=("adaptive", "fixed", "none"),
    )  # fmt: skip
    disk_ratio: float = parameter(0.3, "share of each input on disk when memory is fixed", low=0.0, high=1.0)
    sites: str = parameter("edge_first", "where a job goes when it fits both sites", choices=("edge_first", "balanced"))


@dataclass(frozen=True, slots=True)
class HarmonyParameters(RegroupingParameters):
    window: int = parameter(1, "numbers of groups tried to either side of the balanced one", low=0, high=20)
    patience: float = parameter(
        PATIENCE, "prefixes without gain before Algorithm 1 stops, times the groups; 0 = as printed", low=0.0, high=1e6
    )


class Found(NamedTuple):
    """What a search came to; the groups are worked out only if they are wanted."""

    score: float
    groups: Callable[[], Groups]


class Harmony(GroupedScheduler):
    """Groups, believed times, and the rules of regrouping."""

    name = "harmony"
    title = "Harmony"
    paper = "Harmony (Lee et al., ICDCS 2021)"
    summary = "Groups jobs whose computation and communication complement each other, so that CPUs and network are both busy."
    Parameters: ClassVar[type] = HarmonyParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        self.spill = self.parameters.memory != "none"
        self.balanced = self.parameters.sites == "balanced"
        super().start(cluster, jobs, rng)
        self.believed: dict[int, tuple[float, float]] = {}  # job -> (comp, comm), where they are not the true ones
        self.fresh: list[int] = []  # jobs that came since the last decision, and whose times are known
        self.unprofiled: dict[int, int] = {}  # job that waits for its profiling or is in it -> its pool
        self.wary: set[int] = set()  # jobs that saw memory run out with fixed ratios
        self.climbed: dict[Any, Ratios] = {}
        self.remembered: dict[Any, Found | None] = {}

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "believed": np.array([[job, *times] for job, times in self.believed.items()], dtype=np.float64).reshape(-1, 3),
            "fresh": self.fresh,
            "unprofiled": list(self.unprofiled.items()),
            "wary": sorted(self.wary),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.believed = {int(job): (comp, comm) for job, comp, comm in state["believed"].tolist()}
        self.fresh = [int(job) for job in state["fresh"]]
        self.unprofiled = {int(job): int(pool) for job, pool in state["unprofiled"]}
        self.wary = {int(job) for job in state["wary"]}
        super().restore(state)

    def _arrived(self, pool: Pool, job: int) -> None:
        pool.take(job)
        if self.parameters.profiling == "online":
            self.unprofiled[job] = self.pools.index(pool)
            return
        self.fresh.append(job)
        if self.parameters.profile_error:
            known, error = self.facts(job), self.parameters.profile_error
            one, other = self.rng.uniform(-error, error, size=2)
            self.believed[job] = (known.comp * (1 + one), known.comm * (1 - one if self.parameters.opposed_errors else 1 + other))

    def _left(self, pool: Pool, job: int) -> None:
        self.unprofiled.pop(job, None)
        self.wary.discard(job)

    def _form(self, pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
        times, ground = pool.times(servers, jobs), pool.ground(servers)
        data = [self.facts(job).data for job in jobs]
        if self.parameters.memory == "adaptive":
            key = (tuple(servers), tuple(jobs))
            ratios = self.climbed.get(key) or adapted(times.comp, times.comm, data, ground)
            if len(self.climbed) >= MOST_CLIMBED:
                self.climbed.clear()
            self.climbed[key] = ratios
        else:
            ratio = self.parameters.disk_ratio if self.parameters.memory == "fixed" else 0.0
            ratios = fixed(times.comp, times.comm, data, ground, ratio)
        guess = pool.times(servers, jobs, self._guess).utilization if self.believed else times.utilization
        return Group(id_, servers, jobs, times, [ratios.pace_ms] * len(jobs), ratios.disk, ratios.model, guess=guess)

    def _decide(self, pool: Pool, change: Change, finished: list[tuple[int, int]], moved: list[int]) -> None:
        self._learn(pool, change.now_ms)
        lost = self._machines(pool, change, moved)
        for id_ in sorted({id_ for id_, _ in finished}):
            if id_ in pool.groups and pool.groups[id_].jobs:
                pool.place(change, id_, pool.groups[id_].servers, pool.groups[id_].jobs)
        new = self._newly_profiled(pool, change)
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
        self._begin_profiling(pool, change)
        if pool.idle and pool.groups:  # all the others profile: the smallest group takes what nobody could be given
            group = min(pool.groups.values(), key=lambda g: (len(g.servers), g.id))
            pool.place(change, group.id, group.servers + pool.idle, group.jobs)
        if self.parameters.memory == "fixed":
            for id_ in sorted(change.groups):
                self._out_of_memory(pool, change, id_)
        for _, job in finished:
            self.believed.pop(job, None)

    # --- what the scheduler believes ---

    def _guess(self, job: int) -> Facts:
        """The facts as believed."""
        known = self.facts(job)
        times = self.believed.get(job)
        return known if times is None else known._replace(comp=times[0], comm=times[1])

    def _score(self, cpu: float, net: float) -> float:
        return self.parameters.cpu_weight * cpu + (1 - self.parameters.cpu_weight) * net

    def _worth(self, group: Group) -> float:
        """Machines x score: a group's part of Eq. (4)."""
        return len(group.servers) * self._score(*group.guess)

    def _total(self, pool: Pool) -> float:
        """Eq. (4) as one number; idle machines count as 0, else leaving them idle would pay."""
        return sum(self._worth(group) for group in pool.groups.values()) / max(1, len(pool.present))

    def _ready(self, pool: Pool) -> list[int]:
        """Waiting jobs whose times are known."""
        return [job for job in pool.waiting if job not in self.unprofiled]

    # --- Algorithm 1 ---

    def _search(self, pool: Pool, jobs: list[int], machines: int) -> Found | None:
        """Algorithm 1 on these jobs, in this order; a result is remembered for as long as beliefs do not change."""
        key = (
            self.pools.index(pool),
            machines,
            tuple(jobs),
            tuple(self.believed.get(job) for job in jobs) if self.believed else (),
            len(self.wary),
        )
        if key not in self.remembered:
            if len(self.remembered) >= MOST_REMEMBERED:
                self.remembered.clear()
            self.remembered[key] = self._found(pool.work(jobs, machines, self._guess, self._believed_needs))
        return self.remembered[key]

    def _found(self, work: Work) -> Found | None:
        weight = self.parameters.cpu_weight
        best = choose(work, weight, self.parameters.window, self.parameters.patience)
        return None if best is None else Found(best.score, lambda: grouping(work, best.jobs, best.groups, weight))

    def _apply(self, pool: Pool, change: Change, old: Sequence[int], jobs: list[int], found: Found | None) -> None:
        """Makes `found`, a grouping of `jobs`, the future of the old groups' machines and of the idle ones.

        A new group takes over the number and the machines of the old one with which it shares most jobs, the largest first. Machines
        that are left over, those with the highest numbers, go where some are missing, lowest first.
        """
        free = set(pool.idle)
        inherited = {id_: (set(pool.groups[id_].jobs), list(pool.groups[id_].servers)) for id_ in old}
        groups = found.groups() if found is not None else None
        parts = (
            [([jobs[p] for p in own], m) for own, m in zip(groups.lists(), groups.machines.tolist(), strict=True)]
            if groups
            else []
        )
        parts.sort(key=lambda part: (-part[1], part[0]))
        takes: list[tuple[int, list[int], int, list[int]]] = []
        for own, count in parts:
            id_ = max(inherited, key=lambda g: (len(inherited[g][0] & set(own)), -g), default=None)
            if id_ is None or not inherited[id_][0] & set(own):
                id_, servers = self.next_group, []
                self.next_group += 1
            else:
                servers = inherited.pop(id_)[1]
            takes.append((id_, own, count, servers[:count]))
            free.update(servers[count:])
        for _, servers in inherited.values():
            free.update(servers)
        staying = {job for own, _ in parts for job in own}
        for id_ in old:
            for job in pool.groups[id_].jobs:
                if job not in staying:
                    pool.leave(change, job)
            if id_ in inherited:
                pool.dissolve(change, id_)
        spare = sorted(free)
        for id_, own, count, servers in takes:
            missing = count - len(servers)
            pool.place(change, id_, servers + spare[:missing], own)
            spare = spare[missing:]

    # --- arrivals ---

    def _handle(self, pool: Pool, change: Change, new: list[int]) -> None:
        """Jobs whose times became known. While others wait they do too; else one joins the group that gains most, if any gains."""
        waiting = self._ready(pool)
        new = [job for job in new if job in waiting]
        if not new:
            return
        if not pool.groups:
            if pool.present:
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
        """What the group's part of Eq. (4) gains with the job; below 0 where memory lacks."""
        if not self._roomy(pool, group.servers, [*group.jobs, job]):
            return -1.0
        times = pool.times(group.servers, [*group.jobs, job], self._guess)
        return len(group.servers) * self._score(*times.utilization) - self._worth(group)

    def _roomy(self, pool: Pool, servers: Sequence[int], jobs: list[int]) -> bool:
        """Whether memory is believed to be enough for the jobs on the servers."""
        if self.parameters.memory == "fixed" and not self.wary:
            return True
        return self._holds(pool, servers, jobs)

    def _needs(self, job: int, memory_gb: float) -> tuple[float, float]:
        """With fixed ratios, what has to fit is what does not run out of memory."""
        if self.parameters.memory != "fixed":
            return super()._needs(job, memory_gb)
        return machines_needed(self.facts(job).data, memory_gb * OUT_OF_MEMORY, self.parameters.disk_ratio, 0.0)

    def _believed_needs(self, job: int, memory_gb: float) -> tuple[float, float]:
        """The same as Algorithm 1 believes: with fixed ratios nobody looks before memory ran out once."""
        if self.parameters.memory == "fixed" and job not in self.wary:
            return 0.0, 0.0
        return self._needs(job, memory_gb)

    def _all(self, pool: Pool, change: Change, forced: bool) -> None:
        """Algorithm 1 over every job of the site, for a gain worth the moves."""
        now = self._total(pool)
        if not forced and now * (1 + self.parameters.regroup_gain) >= 1:
            return
        groups = [group for group in pool.groups.values() if not self._profiling(group)]
        if len(groups) < len(pool.groups):
            return  # a profiling is not disturbed
        jobs = pool.running(groups) + self._ready(pool)
        found = self._search(pool, jobs, len(pool.present))
        if found is not None and (forced or found.score >= now * (1 + self.parameters.regroup_gain)):
            self._apply(pool, change, [group.id for group in groups], jobs, found)

    # --- completions ---

    def _completed(self, pool: Pool, change: Change, id_: int, job: int) -> None:
        """A similar job takes the finished one's place, or two or three; else its group is regrouped, with others if that pays."""
        group, waiting = pool.groups[id_], self._ready(pool)
        if waiting:
            times = pool.times(group.servers, [job, *waiting], self._guess)
            comps, comms = np.array(times.comp), np.array(times.comm)
            found = similar(comps[0], comms[0], comps[1:], comms[1:])
            if found is not None:
                jobs = [*group.jobs, *(waiting[place] for place in found)]
                if self._roomy(pool, group.servers, jobs):
                    pool.place(change, id_, group.servers, jobs)
                    return
        self._repair(pool, change, id_, forced=not group.jobs)

    def _repair(self, pool: Pool, change: Change, id_: int | None, forced: bool) -> None:
        """Regroups group `id_`, or idle machines, with the waiting jobs and those of the other groups whose part in it gains enough.

        forced: the machines have to go somewhere, whatever the gain.
        """
        own = [] if id_ is None else [id_]
        others = [
            Side(group.id, len(group.jobs), self._score(*group.guess))
            for group in pool.groups.values()
            if group.id != id_ and not self._profiling(group)
        ]
        if id_ is not None and self._profiling(pool.groups[id_]):
            return
        if not pool.present:
            return
        total, machines, gain = self._total(pool), len(pool.present), 1 + self.parameters.regroup_gain
        idle, waiting = len(pool.idle), self._ready(pool)
        looked: dict[int, tuple[float, list[int], Found | None]] = {}  # place in `sets` -> (score, jobs, what was found)
        sets = [[*own, *chosen] for chosen in self._sets(others)]
        counts = [sum(len(pool.groups[g].servers) for g in chosen) + idle for chosen in sets]
        rests = [total - sum(self._worth(pool.groups[g]) for g in chosen) / machines for chosen in sets]
        most = [rest + count / machines for rest, count in zip(rests, counts, strict=True)]  # if all of its machines were busy

        def look(place: int) -> float:
            if place not in looked:
                jobs = pool.running(pool.groups[g] for g in sets[place]) + waiting
                found = self._search(pool, jobs, counts[place])
                score = rests[place] + (found.score * counts[place] / machines if found is not None else 0.0)
                looked[place] = score, jobs, found
            return looked[place][0]

        least = 0.0 if forced else total * gain
        able = [place for place in range(len(sets)) if most[place] >= least]
        first = next((place for place in able if look(place) >= least), None)
        if first is None:
            return
        able = [place for place in able if place >= first]
        rivals = [place for place in able if most[place] > look(first) * gain]
        if any(look(place) > look(first) * gain for place in rivals):  # then the first is not enough
            best = max(look(place) for place in able)
            first = next(place for place in able if look(place) >= least and look(place) * gain >= best)
        _, jobs, found = looked[first]
        self._apply(pool, change, sets[first], jobs, found)

    def _sets(self, others: list[Side]) -> list[list[int]]:
        """The sets of other groups that may take part."""
        return candidate_sets(others)

    # --- profiling ---

    def _profiling(self, group: Group) -> bool:
        return any(job in self.unprofiled for job in group.jobs)

    def _newly_profiled(self, pool: Pool, change: Change) -> list[int]:
        """Jobs that are known from now on: those that came, or that leave their profiling. In the order of the jobs."""
        if self.parameters.profiling == "instant":
            new = [job for job in self.fresh if job in pool.of]
            self.fresh = [job for job in self.fresh if job not in pool.of]
            return new
        due = [
            job for job in sorted(self.unprofiled)
            if self.pool_of.get(job) == self.pools.index(pool) and pool.of[job].group != NONE and change.now_ms >= self._profiled_ms(pool, job)
        ]  # fmt: skip
        for job in due:
            known = self.facts(job)
            noise = self.rng.normal(0.0, SAMPLE_NOISE, size=(2, PROFILED_ITERATIONS))
            factors = np.exp(noise).mean(axis=1).tolist()
            self.believed[job] = (known.comp * factors[0], known.comm * factors[1])
            del self.unprofiled[job]
        for id_ in sorted({pool.of[job].group for job in due}):
            group = pool.groups[id_]
            for job in due:
                if pool.of[job].group == id_:
                    pool.leave(change, job)
            left = [job for job in group.jobs if job not in due]
            if left:
                pool.place(change, id_, group.servers, left)
            else:
                pool.dissolve(change, id_)
        return due

    def _begin_profiling(self, pool: Pool, change: Change) -> None:
        """Waiting jobs that nobody knows join the group that profiles already, or that with the fewest machines; the first get all machines."""
        new = [job for job in pool.waiting if job in self.unprofiled]
        if not new or not pool.present:
            return
        if not pool.groups:
            id_, self.next_group = self.next_group, self.next_group + 1
            pool.place(change, id_, sorted(pool.present), self._wave(pool, sorted(pool.present), [], new))
            return
        group = min(pool.groups.values(), key=lambda g: (not self._profiling(g), len(g.servers), g.id))
        wave = self._wave(pool, group.servers, group.jobs, new)
        if wave:
            pool.place(change, group.id, group.servers, [*group.jobs, *wave])

    def _wave(self, pool: Pool, servers: Sequence[int], there: list[int], new: list[int]) -> list[int]:
        """The first of the new jobs that a group can profile now."""
        room = MOST_PROFILING - sum(job in self.unprofiled for job in there)
        wave: list[int] = []
        for job in new[: max(0, room)]:
            if not self._roomy(pool, servers, [*there, *wave, job]):
                break
            wave.append(job)
        return wave

    def _profiled_ms(self, pool: Pool, job: int) -> int:
        """When the job in its group will have been measured."""
        record = pool.of[job]
        left = PROFILED_ITERATIONS - record.done
        return max(record.since_ms, record.ready_ms) + max(0, int(np.ceil(left * record.pace_ms - 1e-6)))

    def _next_alarm(self, now_ms: int) -> int | None:
        times = [
            self._profiled_ms(self.pools[number], job) for job, number in self.unprofiled.items() if self.pools[number].of[job].group != NONE
        ]  # fmt: skip
        return max(now_ms + 1, min(times)) if times else None

    def _learn(self, pool: Pool, now_ms: int) -> None:
        """Online: the moving average over the iterations since it was last looked at, drawn at once."""
        if self.parameters.profiling == "instant":
            return
        for group in pool.groups.values():
            for job in group.jobs:
                if job in self.believed:
                    record = pool.of[job]
                    kept = KEEP ** max(0.0, record.at(now_ms) - record.done)
                    known, noise = self.facts(job), np.exp(self.rng.normal(0.0, SAMPLE_NOISE * (1 - KEEP), size=2)).tolist()
                    comp, comm = self.believed[job]
                    self.believed[job] = (
                        kept * comp + (1 - kept) * known.comp * noise[0], kept * comm + (1 - kept) * known.comm * noise[1]
                    )  # fmt: skip

    # --- memory ---

    def _out_of_memory(self, pool: Pool, change: Change, id_: int) -> None:
        """With fixed ratios nobody looks ahead: a group that does not fit loses its epoch, and its last job, and is wary from then on."""
        while id_ in pool.groups and len(pool.groups[id_].jobs) > 1:
            group = pool.groups[id_]
            data = [self.facts(job).data for job in group.jobs]
            if usage(data, pool.ground(group.servers), group.disk, group.model) <= OUT_OF_MEMORY:
                return
            self.wary.update(group.jobs)
            for job in group.jobs:
                pool.set_back(change, job)
            last = pool.running([group])[-1]
            pool.leave(change, last)
            pool.place(change, id_, group.servers, [job for job in group.jobs if job != last])
