"""Resources that one unit of a bar holds, by its role and the size of its job, for whole columns of jobs.

A job of a real cluster that restarts with another size has each of them from a time on: its bars have the size that the
job had at their start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduling.model.bars import JOB, START, Role
from scheduling.model.values import CPU, ZERO, Demand, EarlierSize, Job


class Generation(NamedTuple):
    """Earlier sizes, at most one of each job: [job] its index, in order, the end of the size, and the row with it."""

    jobs: NDArray[np.int64]
    until_ms: NDArray[np.int64]
    rows: NDArray[np.int64]


class Sizes(NamedTuple):
    """Sizes of jobs. demands: [role, size, resource] of one unit; the first sizes are the newest ones of all jobs.

    earlier: newest first
    """

    demands: NDArray[np.int64]
    earlier: Sequence[Generation] = ()

    def of(self, bars: NDArray[np.int64]) -> NDArray[np.int64]:
        """[bar] the size that its job had at its start."""
        found = bars[:, JOB]
        for jobs, until_ms, rows in self.earlier:
            place = np.minimum(np.searchsorted(jobs, bars[:, JOB]), len(jobs) - 1)
            own = (jobs[place] == bars[:, JOB]) & (bars[:, START] < until_ms[place])
            found = np.where(own, rows[place], found)
        return found


def sizes_of(worker: NDArray[np.int64], ps: NDArray[np.int64], earlier: Mapping[int, Sequence[EarlierSize]]) -> Sizes:
    """Sizes from the demands [job, resource] of a worker and of a parameter server, and the earlier ones of jobs."""
    generations: list[Generation] = []
    before: list[Demand] = []
    for age in range(1, max(map(len, earlier.values()), default=0) + 1):
        jobs = sorted(job for job, sizes in earlier.items() if len(sizes) >= age)
        sizes = [earlier[job][-age] for job in jobs]
        first = len(worker) + len(before)
        before += [size.worker for size in sizes]
        columns = (jobs, [size.until_ms for size in sizes], range(first, first + len(sizes)))
        generations.append(Generation(*(np.array(column, dtype=np.int64) for column in columns)))
    if before:
        worker = np.vstack([worker, np.array(before, dtype=np.int64)])
        ps = np.vstack([ps, np.tile(np.array(ZERO, dtype=np.int64), (len(before), 1))])
    return Sizes(held_by_role(worker, ps), generations)


def earlier_sizes_of(jobs: Sequence[Job]) -> dict[int, Sequence[EarlierSize]]:
    """{job: its earlier sizes} of the jobs that have some."""
    return {index: job.earlier_sizes for index, job in enumerate(jobs) if job.earlier_sizes}


def size_at(job: Job, at_ms: int) -> Job:
    """The job with the worker and the number of workers that it had, or asked for, at a time; without later changes."""
    if not job.earlier_sizes:
        return job
    past = next((size for size in job.earlier_sizes if at_ms < size.until_ms), None)
    then: dict[str, Any] = {} if past is None else {"worker": past.worker, "requested_workers": past.requested_workers}
    return replace(job, earlier_sizes=None, **then)


def held_by_role(worker: NDArray[np.int64], ps: NDArray[np.int64]) -> NDArray[np.int64]:
    """[role, job, resource] from the demands [job, resource] of a worker and of a parameter server.

    A transfer holds nothing; a suspended worker keeps everything but its CPUs.
    """
    suspended = worker.copy()
    suspended[:, CPU] = 0
    by_role = {Role.WORKER: worker, Role.PS: ps, Role.TRANSFER: np.zeros_like(worker), Role.SUSPENDED: suspended}
    return np.stack([by_role[role] for role in Role])
