"""Spilling [Harmony, Section IV-C]: disk ratios of each job's data, and handling of exhausted memory.

adaptive  the ratios begin at the least equal one and climb from epoch to epoch (hill_climbing.py)
fixed     the same share of every input, without a check in advance: memory may run out, which costs all jobs of the
          group their work in this epoch (Section VI); those jobs are checked from then on
none      nothing is spilled
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from scheduling.colocation.job_mapping import Facts
from scheduling.colocation.memory import hill_climbing
from scheduling.colocation.memory.hill_climbing import Climb, Setting, Trial
from scheduling.colocation.memory.usage import OUT_OF_MEMORY, fixed, machines_needed, usage
from scheduling.colocation.site_pool import EARLY_MS, Change, Group, Pool, Times
from scheduling.model.bars import NONE

MODES = ("adaptive", "fixed", "none")


class Spilled(NamedTuple):
    """Spilling of a group: the time of an iteration, the ratios, and the state of the climb."""

    pace_ms: float
    disk: list[float]
    model: list[float]
    climb: Climb | None
    due_ms: int = NONE  # when the epoch under way is over


class Spilling:
    """mode: one of MODES; ratio: of `fixed`."""

    def __init__(self, mode: str, ratio: float, facts: Callable[[int], Facts]) -> None:
        self.fixed = mode == "fixed"
        self.adaptive = mode == "adaptive"
        self.ratio = ratio if self.fixed else 0.0
        self.facts = facts
        self.wary: set[int] = set()  # jobs whose group has run out of memory

    def of(self, pool: Pool, id_: int, servers: list[int], jobs: list[int], times: Times) -> Spilled:
        """Spilling of a new group: ratios are kept while it has the same jobs on the same machines."""
        setting = self._setting(pool, servers, jobs, times)
        if not self.adaptive:
            found = fixed(setting.comp_ms, setting.comm_ms, setting.data, setting.machines, self.ratio)
            return Spilled(found.pace_ms, found.disk, found.model, None)
        old = pool.groups.get(id_)
        if old is not None and old.climb is not None and old.servers == servers and old.jobs == jobs:
            climb, due_ms = old.climb, old.due_ms
        else:
            climb, due_ms = hill_climbing.begin(setting), NONE
        return Spilled(climb.pace_ms, climb.disk, climb.model, climb, due_ms)

    def needs(self, job: int, memory_gb: float) -> tuple[float, float]:
        """Memory needs with fixed ratios: numbers of machines at which a job just fits in memory (spread, peak)."""
        return machines_needed(self.facts(job).data, memory_gb * OUT_OF_MEMORY, self.ratio, 0.0)

    def careless(self, jobs: Iterable[int]) -> bool:
        """True if the memory of these jobs is not checked: with fixed ratios, before it ran out once."""
        return self.fixed and self.wary.isdisjoint(jobs)

    def climb(self, pool: Pool, change: Change) -> None:
        """Next step of the groups whose epoch has ended, and the next epoch end of the others."""
        if not self.adaptive:
            return
        now_ms = change.now_ms
        for group in list(pool.groups.values()):
            if group.due_ms == NONE or group.due_ms > now_ms or group.id in change.groups:
                continue
            assert group.climb is not None
            setting = self._setting(pool, group.servers, group.jobs, group.times)
            new = hill_climbing.advance(group.climb, setting)
            changed = (new.disk, new.model) != (group.disk, group.model)
            group.climb, group.due_ms = new, NONE
            if changed:
                change.adapted.add(group.id)
                pool.place(change, group.id, group.servers, group.jobs)
        for group in pool.groups.values():
            if group.due_ms == NONE and group.climb is not None and not group.climb.done:
                group.due_ms = self._epoch_ms(pool, group, now_ms)

    def next_ms(self, pools: Iterable[Pool]) -> int | None:
        """Time at which the next epoch of a climbing group ends."""
        if not self.adaptive:
            return None
        return min(
            (group.due_ms for pool in pools for group in pool.groups.values() if group.due_ms != NONE), default=None
        )

    def run_out(self, pool: Pool, change: Change, id_: int) -> None:
        """Out of memory with fixed ratios: the group loses its epoch, then its last job, until the rest fits."""
        while self.fixed and id_ in pool.groups and len(pool.groups[id_].jobs) > 1:
            group = pool.groups[id_]
            data = [self.facts(job).data for job in group.jobs]
            if usage(data, pool.group_machines(group.servers), group.disk, group.model) <= OUT_OF_MEMORY:
                return
            self.wary.update(group.jobs)
            for job in group.jobs:
                pool.set_back(change, job)
            last = pool.running([group])[-1]
            pool.leave(change, last)
            pool.place(change, id_, group.servers, [job for job in group.jobs if job != last])

    def state(self, pools: Iterable[Pool]) -> dict[str, Any]:
        """State: the wary groups and the started climbs."""
        climbs = [
            {
                "group": group.id, "due_ms": group.due_ms, "turn": climb.turn, "done": climb.done,
                "pace_ms": climb.pace_ms,
                "lists": np.array([climb.disk, climb.model, climb.steps, climb.failed], dtype=np.float64),
                "trial": np.array(climb.trial or (), dtype=np.float64),
            }
            for pool in pools for group in pool.groups.values()
            if (climb := group.climb) is not None and (group.due_ms != NONE or climb.turn >= 0)
        ]  # fmt: skip
        return {"wary": sorted(self.wary), "climbs": climbs}

    def restore(self, state: Any, pools: Sequence[Pool]) -> None:
        """The inverse of `state`, when the pools have their groups again."""
        self.wary = {int(job) for job in state["wary"]}
        for row in state["climbs"]:
            pool = next(pool for pool in pools if row["group"] in pool.groups)
            disk, model, steps, failed = row["lists"].tolist()
            trial = row["trial"].tolist()
            climb = Climb(
                disk, model, row["pace_ms"], steps, [int(count) for count in failed], int(row["turn"]),
                Trial(bool(trial[0]), *trial[1:]) if trial else None, bool(row["done"]),
            )  # fmt: skip
            group = pool.groups[row["group"]]
            group.climb, group.due_ms = climb, int(row["due_ms"])
            pool.groups[group.id] = pool.form(group.id, group.servers, group.jobs)

    def _setting(self, pool: Pool, servers: Sequence[int], jobs: Sequence[int], times: Times) -> Setting:
        return Setting(times.comp, times.comm, [self.facts(job).data for job in jobs], pool.group_machines(servers))

    def _epoch_ms(self, pool: Pool, group: Group, now_ms: int) -> int:
        """Time at which the job whose turn it is, or will be, has completed an epoch from now on."""
        assert group.climb is not None
        turn = group.climb.turn if group.climb.trial is not None else (group.climb.turn + 1) % len(group.jobs)
        job = group.jobs[turn]
        epoch_ms = self.facts(job).per_epoch * group.climb.pace_ms
        return max(now_ms, pool.of[job].ready_ms) + max(1, ceil(epoch_ms - EARLY_MS))
