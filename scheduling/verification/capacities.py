"""Capacity of each server over time: servers may be added and changed while a run is in progress."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.verification.replay import FOREVER, Outcome
from scheduling.verification.rules import Row, thousandths

Steps = list[tuple[int, Sequence[int]]]  # (until_ms, thousandths), in the order of time


def capacities_of(cluster: Row, outcome: Outcome) -> list[Steps]:
    """[server] its capacities: cluster.json states the newest one, and the log those before."""
    return [
        [*outcome.was.get(index, ()), (FOREVER, thousandths(server["capacity"]))]
        for index, server in enumerate(cluster["servers"])
    ]


def capacity_at(steps: Steps, at_ms: int) -> Sequence[int]:
    """Capacity at a time."""
    return next(amounts for until_ms, amounts in steps if at_ms < until_ms)
