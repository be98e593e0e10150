"""Amounts over time: servers may be added and changed while a run is in progress, and real jobs restart with others."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.verification.replay import FOREVER, Outcome
from scheduling.verification.rules import Row, held_by, thousandths

Steps = list[tuple[int, Sequence[int]]]  # (until_ms, thousandths), in the order of time


def capacities_of(cluster: Row, outcome: Outcome) -> list[Steps]:
    """[server] its capacities: cluster.json states the newest one, and the log those before."""
    return [
        [*outcome.was.get(index, ()), (FOREVER, thousandths(server["capacity"]))]
        for index, server in enumerate(cluster["servers"])
    ]


def sizes_of(job: Row, role: str) -> Steps:
    """Amounts of a unit of a bar by the start of the bar: earlier sizes are those of workers."""
    earlier = job.get("earlier_sizes") or ()
    return [*((size["until_ms"], held_by(size, role)) for size in earlier), (FOREVER, held_by(job, role))]


def amounts_at(steps: Steps, at_ms: int) -> Sequence[int]:
    """Amounts at a time."""
    return next(amounts for until_ms, amounts in steps if at_ms < until_ms)
