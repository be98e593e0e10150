"""Online profiling (Harmony Section IV-B1): jobs of unknown times first run a few iterations in a group.

The paper says which group a new job joins, but not how the first ones begin: on an empty site the first job gets all
machines, and of a batch up to MAX_PROFILING are profiled beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

from scheduling.colocation.estimates.time_estimates import PROFILED_ITERATIONS, Beliefs
from scheduling.colocation.site_pool import EARLY_MS, Change, Group, Pool
from scheduling.model.bars import NONE

MAX_PROFILING = 8  # jobs that a group profiles at the same time

Roomy = Callable[[Pool, Sequence[int], list[int]], bool]


class Profiling:
    """Jobs that wait for profiling or are in it: job -> the number of its pool."""

    def __init__(self, beliefs: Beliefs, roomy: Roomy) -> None:
        self.beliefs, self.roomy = beliefs, roomy
        self.pool_of: dict[int, int] = {}

    def __contains__(self, job: int) -> bool:
        return job in self.pool_of

    def busy(self, group: Group) -> bool:
        """True if the group profiles a job; its members then do not change."""
        return any(job in self.pool_of for job in group.jobs)

    def end(self, pool: Pool, number: int, change: Change) -> list[int]:
        """Jobs that have been measured by now; they leave their groups and wait. In job order."""
        due = [
            job for job in sorted(self.pool_of)
            if self.pool_of[job] == number and pool.of[job].group != NONE and change.now_ms >= self._due_ms(pool, job)
        ]  # fmt: skip
        for job in due:
            self.beliefs.measured(job)
            change.measured.add(job)
            del self.pool_of[job]
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

    def begin(self, pool: Pool, change: Change, new_id: Callable[[], int]) -> None:
        """Start of profiling: waiting jobs of unknown times join the group that profiles, or that with fewest machines.

        The first jobs get all machines.
        """
        if not self.pool_of:
            return
        new = [job for job in pool.waiting if job in self.pool_of]
        if not new or not pool.available:
            return
        if not pool.groups:
            servers = sorted(pool.available)
            pool.place(change, new_id(), servers, self._wave(pool, servers, [], new))
            return
        group = min(pool.groups.values(), key=lambda g: (not self.busy(g), len(g.servers), g.id))
        wave = self._wave(pool, group.servers, group.jobs, new)
        if wave:
            pool.place(change, group.id, group.servers, [*group.jobs, *wave])

    def next_ms(self, pools: Sequence[Pool]) -> int | None:
        """Time at which the next job has been measured."""
        times = [self._due_ms(pools[n], job) for job, n in self.pool_of.items() if pools[n].of[job].group != NONE]
        return min(times, default=None)

    def _wave(self, pool: Pool, servers: Sequence[int], there: list[int], new: list[int]) -> list[int]:
        """First of the new jobs that a group can profile now."""
        room = MAX_PROFILING - sum(job in self.pool_of for job in there)
        wave: list[int] = []
        for job in new[: max(0, room)]:
            if not self.roomy(pool, servers, [*there, *wave, job]):
                break
            wave.append(job)
        return wave

    def _due_ms(self, pool: Pool, job: int) -> int:
        record = pool.of[job]
        left = PROFILED_ITERATIONS - record.done
        return max(record.since_ms, record.ready_ms) + max(0, ceil(left * record.pace_ms - EARLY_MS))
