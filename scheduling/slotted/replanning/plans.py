"""Open jobs of the re-planning scheduler: work, plan, and promised finish."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.bars import NONE, Placement, Role

_WORKER = int(Role.WORKER)
_COLUMNS = len(Placement._fields)


class Plan(NamedTuple):
    """Plan of a job: its bars, the slot in which its last worker stops, and its utility then."""

    bars: list[Placement]
    finish: int
    worth: float

    def worked_ms(self, now_ms: int) -> int:
        """Time of all workers before now."""
        return sum(
            bar.count * (min(bar.end_ms, now_ms) - bar.start_ms)
            for bar in self.bars
            if bar.role == _WORKER and bar.start_ms < now_ms
        )

    def most_workers(self) -> int:
        """Number of workers in the slot with most of them."""
        changes = [(at_ms, sign * bar.count) for bar in self.bars if bar.role == _WORKER for at_ms, sign in (
            (bar.start_ms, 1), (bar.end_ms, -1),
        )]  # fmt: skip
        return max(accumulate(change for _, change in sorted(changes)), default=0)

    def rest(self, now_ms: int) -> list[Placement]:
        """The bars from now on."""
        return [bar._replace(start_ms=max(bar.start_ms, now_ms)) for bar in self.bars if bar.end_ms > now_ms]


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job that has arrived and is neither done nor rejected.

    need      worker-slots of its work
    done_ms   time of its workers in the plans before this one
    plan      None while it waits
    promised  slot by which it is to finish, once that is promised
    """

    need: int
    done_ms: int = 0
    plan: Plan | None = None
    promised: int | None = None

    def worked_ms(self, now_ms: int) -> int:
        """Time of all its workers before now."""
        return self.done_ms + (self.plan.worked_ms(now_ms) if self.plan else 0)

    def with_plan(self, plan: Plan | None, now_ms: int) -> OpenJob:
        """The job with another plan from now on."""
        return replace(self, done_ms=self.worked_ms(now_ms), plan=plan)


def state_of(jobs: Mapping[int, OpenJob]) -> dict[str, Any]:
    """Plain data of the jobs."""
    rows = [
        (
            job,
            own.need,
            own.done_ms,
            NONE if own.promised is None else own.promised,
            own.plan.finish if own.plan else NONE,
        )
        for job, own in jobs.items()
    ]
    bars = [bar for own in jobs.values() if own.plan for bar in own.plan.bars]
    return {
        "open": np.array(rows, dtype=np.int64).reshape(-1, 5),
        "worth": [own.plan.worth if own.plan else 0.0 for own in jobs.values()],
        "bars": np.array(bars, dtype=np.int64).reshape(-1, _COLUMNS),
    }


def jobs_of(state: Mapping[str, Any]) -> dict[int, OpenJob]:
    """The inverse of `state_of`."""
    bars: dict[int, list[Placement]] = {}
    for row in state["bars"].tolist():
        bar = Placement(*row)
        bars.setdefault(bar.job, []).append(bar)
    return {
        job: OpenJob(
            need,
            done_ms,
            None if finish == NONE else Plan(bars.get(job, []), finish, worth),
            None if promised == NONE else promised,
        )
        for (job, need, done_ms, promised, finish), worth in zip(state["open"].tolist(), state["worth"], strict=True)
    }


def rows_of(plans: Iterable[Sequence[Placement]]) -> np.ndarray:
    """Bars of all plans as rows, in the order of Placement."""
    return np.array([bar for bars in plans for bar in bars], dtype=np.int64).reshape(-1, _COLUMNS)
