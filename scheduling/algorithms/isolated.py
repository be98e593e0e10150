"""Isolated, a baseline of Harmony (Section V-A): every job has machines of its own.

Follows the paper's description: jobs are admitted in the order of their arrival, at most `at_once` at a time
(calibrated to the CPU utilization that the paper's figures imply; the makespan depends on it); each gets the machines
that its memory needs, since nothing is spilled, and the others go one at a time to the job whose CPU utilization falls
least, which maximizes the CPU utilization of the cluster, since it is concave. Machines are reassigned at each event,
without a cost, as by Optimus and SLAQ.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from scheduling.colocation.scheduler_base import GroupedScheduler, GroupParameters
from scheduling.colocation.site_pool import Change, Group, Pool
from scheduling.kernel.parameters import parameter


@dataclass(frozen=True, slots=True)
class IsolatedParameters(GroupParameters):
    at_once: int = parameter(
        8, "Maximum number of concurrent jobs per site", low=1, high=100_000, title="Concurrent jobs"
    )
    machines: int = parameter(
        0, "Number of machines of a job; 0: by CPU utilization", low=0, high=100_000, title="Machines per job"
    )


class Isolated(GroupedScheduler):
    """Isolated: first come, first served, with one group per job."""

    name = "isolated"
    title = "Isolated"
    paper = "Baseline of Harmony (ICDCS 2021), after Optimus and SLAQ"
    summary = "Gives every job dedicated machines, allocated for the highest CPU utilization; other jobs wait."
    Parameters = IsolatedParameters
    spill = False

    def _form(self, pool: Pool, id_: int, servers: list[int], jobs: list[int]) -> Group:
        times = pool.times(servers, jobs)
        nothing = [0.0] * len(jobs)
        return Group(id_, servers, jobs, times, [times.iteration_ms] * len(jobs), nothing, nothing[:])

    def _decide(self, pool: Pool, change: Change, finished: list[tuple[int, int]], moved: list[int]) -> None:
        self._machines(pool, change, moved)
        for id_ in [group.id for group in pool.groups.values() if not group.jobs]:
            pool.dissolve(change, id_)
        machines = len(pool.available)
        chosen, floors = self._admitted(pool, machines)
        counts = self._counts(pool, chosen, floors, machines)
        group_of = {group.jobs[0]: group for group in pool.groups.values()}
        for job, group in group_of.items():
            if job not in chosen:
                pool.leave(change, job)
                pool.dissolve(change, group.id)
        kept = {job: group_of[job].servers[: counts[job]] if job in group_of else [] for job in chosen}
        free = sorted(pool.available - {server for servers in kept.values() for server in servers})
        for job in chosen:
            missing = counts[job] - len(kept[job])
            servers, free = kept[job] + free[:missing], free[missing:]
            if job in group_of:
                id_ = group_of[job].id
            else:
                id_, self.next_group = self.next_group, self.next_group + 1
            if job not in group_of or sorted(servers) != group_of[job].servers:
                pool.place(change, id_, servers, [job], moving=False)

    def _admitted(self, pool: Pool, machines: int) -> tuple[list[int], dict[int, int]]:
        """The first jobs whose memory fits beside each other, and the machines that it takes.

        The first that does not fit blocks the others.
        """
        queue = pool.running(pool.groups.values()) + pool.waiting
        floors: dict[int, int] = {}
        left = machines
        for job in queue[: self.parameters.at_once]:
            need = max(self._floor(pool, job), self.parameters.machines)
            if need > left:
                break
            floors[job] = need
            left -= need
        return list(floors), floors

    def _floor(self, pool: Pool, job: int) -> int:
        return max(1, -int(-(sum(self._needs(job, pool.least_memory)) - 1e-9) // 1))

    def _counts(self, pool: Pool, jobs: list[int], floors: dict[int, int], machines: int) -> dict[int, int]:
        """Machines of each job: its floor, and each spare machine where machines x CPU utilization gains most."""
        counts = dict(floors)
        if self.parameters.machines or not jobs:
            return counts
        work = pool.work(jobs, machines, self.facts, self._needs)
        most = work.most if work.most is not None else np.full(len(jobs), np.inf)
        rows = zip(jobs, work.comp.tolist(), work.comm.tolist(), most.tolist(), strict=True)
        times = {job: own for job, *own in rows}

        def gain(job: int) -> float:
            comp, comm, most = times[job]
            before, after = min(counts[job], most), min(counts[job] + 1, most)
            return after * comp / max(comp + after * comm, 1e-9) - before * comp / max(comp + before * comm, 1e-9)

        heap = [(-gain(job), place) for place, job in enumerate(jobs)]
        heapq.heapify(heap)
        for _ in range(machines - sum(floors.values())):
            rise, place = heap[0]
            if rise == 0 and work.most is not None:  # nobody can use another machine
                break
            counts[jobs[place]] += 1
            heapq.heapreplace(heap, (-gain(jobs[place]), place))
        return counts
