"""Naive co-location, a baseline of Harmony (Section V-A): jobs share machines, and their subtasks are not coordinated.

The cluster is cut into equal partitions that each hold a fixed number of jobs, filled in the order of arrival, as the
released PartitioningScheduler does. The subtasks of a partition's jobs contend for its CPUs and network
(contention.py). Nothing is spilled: a job waits until a partition has the memory for it, and blocks those behind it;
`forced` places it all the same, and then a partition that runs out of memory loses the epoch of all its jobs (Section
VI) and puts the last one back. `sharing` = subtasks runs the partitions with Harmony's subtasks instead: the first step
of the paper's ablation (Section V-C).

The paper reports the mean over all cases and the best and the worst; here a case is a choice of `partitions` and
`jobs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scheduling.colocation.contention import CONTENTION, paces_ms
from scheduling.colocation.memory.usage import GC_FROM, GC_FULL, OUT_OF_MEMORY, USABLE, usage
from scheduling.colocation.scheduler_base import GroupedScheduler, GroupParameters
from scheduling.colocation.site_pool import Change, Group, Pool
from scheduling.kernel.parameters import parameter
from scheduling.model.decision import Reason


@dataclass(frozen=True, slots=True)
class NaiveParameters(GroupParameters):
    partitions: int = parameter(
        8, "Number of equal partitions of a site; at most its number of machines", low=1, high=100_000
    )
    jobs: int = parameter(2, "Number of jobs that share a partition", low=1, high=100, title="Jobs per partition")
    contention: float = parameter(
        CONTENTION, "Relative slowdown per additional subtask on a resource", low=0.0, high=10.0
    )
    sharing: str = parameter(
        "processor",
        "Processor (subtasks contend), or subtasks (coordinated as in Harmony)",
        choices={"processor": "Subtasks contend", "subtasks": "Coordinated, as in Harmony"},
        title="Sharing of resources",
    )
    forced: bool = parameter(
        False, "Place jobs even if memory is insufficient", title="Placement despite insufficient memory"
    )


class NaiveColocation(GroupedScheduler):
    """Naive co-location: a queue and fixed partitions; the group of a partition has its number."""

    name = "naive_colocation"
    title = "Naive co-location"
    paper = "Baseline of Harmony (ICDCS 2021), after Gandiva"
    summary = "Divides the cluster into equal partitions in which a few jobs contend for CPU and network."
    Parameters = NaiveParameters
    spill = False
    reasons = {
        "naive_colocation.partition_too_small": lambda v: (
            f"Rejected: needs {v['need']:.4g} GB of memory, and spilling to disk is disabled; the largest partition "
            f"has {v['most']:.4g} GB."
        ),
    }

    def start(self, cluster: Any, jobs: Any, rng: Any) -> None:
        super().start(cluster, jobs, rng)
        self.memo: dict[Any, list[float]] = {}
        self.parts: list[list[list[int]]] = []  # [pool][partition] -> servers
        first = 0
        self.first: list[int] = []  # the group of each pool's first partition
        for pool in self.pools:
            count = min(self.parameters.partitions, len(pool.servers))
            size, larger = divmod(len(pool.servers), count)
            edges = [number * size + min(number, larger) for number in range(count + 1)]
            self.parts.append([pool.servers[a:b] for a, b in pairwise(edges)])
            self.first.append(first)
            first += count

    def _form(self, pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
        times = pool.times(servers, jobs)
        slower = self._slowdown(pool, servers, jobs)
        comp = [c * slower for c in times.comp]
        nothing = [0.0] * len(jobs)
        if self.parameters.sharing == "subtasks":
            paces = [times._replace(comp=comp).iteration_ms] * len(jobs)
        else:
            key = (tuple(comp), tuple(times.comm))
            if key not in self.memo:
                if len(self.memo) > 4_096:
                    self.memo.clear()
                self.memo[key] = paces_ms(comp, times.comm, self.parameters.contention)
            paces = list(self.memo[key])
        return Group(
            id_, servers, jobs, times, paces, nothing, nothing[:], coordinated=self.parameters.sharing == "subtasks",
            guess=times.utilization,
        )  # fmt: skip

    def _decide(self, pool: Pool, change: Change, finished: list[tuple[int, int]], moved: list[int]) -> None:
        lost = self._machines(pool, change, moved)
        number = self.pools.index(pool)
        parts = {self.first[number] + i: servers for i, servers in enumerate(self.parts[number])}
        held = {id_: list(pool.groups[id_].jobs) if id_ in pool.groups else [] for id_ in parts}
        touched = {id_ for id_, _ in finished} | set(lost)
        touched |= {id_ for id_ in pool.groups if sorted(parts[id_]) != pool.groups[id_].servers and moved}
        for job in pool.waiting:
            id_ = self._partition(pool, parts, held, job)
            if id_ is None:
                break
            held[id_].append(job)
            touched.add(id_)
        for id_ in sorted(touched):
            servers = [server for server in parts[id_] if server in pool.available]
            if held[id_]:
                pool.place(change, id_, servers, held[id_], moving=False)
                self._out_of_memory(pool, change, id_, servers)
            elif id_ in pool.groups:
                pool.dissolve(change, id_)

    def _partition(self, pool: Pool, parts: dict[int, list[int]], held: dict[int, list[int]], job: int) -> int | None:
        """Partition with the fewest jobs that has a free place and the memory; of equal ones the first."""
        best = None
        for id_, servers in parts.items():
            there = [server for server in servers if server in pool.available]
            if (
                not there
                or len(held[id_]) >= self.parameters.jobs
                or (best is not None and len(held[id_]) >= len(held[best]))
            ):
                continue
            if self.parameters.forced or self._holds(pool, there, [*held[id_], job]):
                best = id_
        return best

    def _fits(self, pool: Pool, job: int) -> bool:
        """True if the partition with the most memory holds the job alone."""
        largest = self._largest(pool)
        if self.parameters.forced:
            return self._usage(pool, largest, [job]) <= OUT_OF_MEMORY
        return self._holds(pool, largest, [job])

    def _too_small(self, job: int) -> Reason:
        most = max(_usable_gb(pool, self._largest(pool)) for pool in self.pools)
        need = sum(self._needs(job, 1.0)) * USABLE
        return Reason("naive_colocation.partition_too_small", {"need": need, "most": most})

    def _largest(self, pool: Pool) -> list[int]:
        """Machines of the site's partition with the most memory; of equal ones the first."""
        return max(self.parts[self.pools.index(pool)], key=lambda servers: _usable_gb(pool, servers))

    def _slowdown(self, pool: Pool, servers: list[int], jobs: list[int]) -> float:
        """Slowdown by garbage collection where memory is short."""
        short = self._usage(pool, servers, jobs)
        return (
            1 + GC_FULL * max(0.0, (min(short, OUT_OF_MEMORY) - GC_FROM) / (1 - GC_FROM)) ** 2
            if self.parameters.forced
            else 1.0
        )

    def _usage(self, pool: Pool, servers: list[int], jobs: list[int]) -> float:
        nothing = [0.0] * len(jobs)
        return usage([self.facts(job).data for job in jobs], pool.group_machines(servers), nothing, nothing)

    def _out_of_memory(self, pool: Pool, change: Change, id_: int, servers: list[int]) -> None:
        """Return of all jobs to their last epoch; the latest jobs wait again until the rest fits."""
        while self.parameters.forced:
            jobs = sorted(pool.groups[id_].jobs, key=lambda job: (pool.of[job].begun_ms, job))
            if len(jobs) < 2 or self._usage(pool, servers, jobs) <= OUT_OF_MEMORY:
                return
            for job in jobs:
                pool.set_back(change, job)
            pool.leave(change, jobs[-1])
            pool.place(change, id_, servers, jobs[:-1], moving=False)


def _usable_gb(pool: Pool, servers: Sequence[int]) -> float:
    """Memory that groups can use on these machines: their number x that of the smallest."""
    return len(servers) * pool.group_machines(servers).memory_gb * USABLE
