"""Differences of two runs, job by job: their kinds, and the rows of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.comparison.outcomes import NEVER, STATES, Outcomes

DIFFERENCE_TYPES = {
    "shifted": "different start or finish, or only in one run",
    "moved": "workers on other servers",
    "not_rejected": "rejected only in {baseline}",
    "rejected": "rejected only in {other}",
    "preempted": "different number of preemptions",
}
BIT = {name: 1 << i for i, name in enumerate(DIFFERENCE_TYPES)}
REJECTED = STATES.index("rejected")


def kinds(base: Outcomes, other: Outcomes, rows: tuple[np.ndarray, np.ndarray], from_ms: int = 0) -> np.ndarray:
    """[shared job] sum of BITs; 0 = the same in both, or not arrived in one of them. rows: its index in each run.

    from_ms: where one of them begins; what started before has started then.
    """
    mine, yours = rows
    arrived = (base.arrived_ms[mine] >= 0) & (other.arrived_ms[yours] >= 0)
    refused, refused_there = base.states[mine] == REJECTED, other.states[yours] == REJECTED
    start, start_there = (np.where(ms < 0, ms, np.maximum(ms, from_ms)) for ms in (base.start_ms, other.start_ms))
    shifted = (start[mine] != start_there[yours]) | (base.finish_ms[mine] != other.finish_ms[yours])
    on, on_there = base.servers[mine], other.servers[yours]
    neither = ~refused & ~refused_there
    mask = np.zeros(len(mine), dtype=np.uint8)
    for name, found in {
        "shifted": shifted & neither,
        "moved": (on != on_there) & (on != 0) & (on_there != 0) & neither,
        "not_rejected": refused & ~refused_there,
        "rejected": ~refused & refused_there,
        "preempted": base.preemptions[mine] != other.preemptions[yours],
    }.items():
        mask |= (found & arrived).astype(np.uint8) * np.uint8(BIT[name])
    return mask


def counts(mask: np.ndarray) -> dict[str, int]:
    """{kind: jobs}; a job may be of several kinds."""
    return {name: int(((mask & bit) != 0).sum()) for name, bit in BIT.items()}


def account(
    base: Outcomes,
    other: Outcomes,
    rows: tuple[np.ndarray, np.ndarray],
    pair: tuple[np.ndarray, np.ndarray],
    mask: np.ndarray,
) -> dict[str, int]:
    """{total, equal, differ, only_base, only_other, not_in_all}: each job that has arrived in one of the two, once.

    rows: of the jobs that all runs have; pair: of those that these two have. not_in_all: arrived in both, and unknown
    to a third run.
    """

    def arrived_in_both(mine: np.ndarray, yours: np.ndarray) -> int:
        return int(((base.arrived_ms[mine] >= 0) & (other.arrived_ms[yours] >= 0)).sum())

    compared, both, differ = arrived_in_both(*rows), arrived_in_both(*pair), int((mask != 0).sum())
    found = {
        "equal": compared - differ,
        "differ": differ,
        "only_base": int((base.arrived_ms >= 0).sum()) - both,
        "only_other": int((other.arrived_ms >= 0).sum()) - both,
        "not_in_all": both - compared,
    }
    return {"total": sum(found.values()), **found}


def names_of(mask: int) -> list[str]:
    """The kinds in a sum of BITs."""
    return [name for name, bit in BIT.items() if mask & bit]


def life(outcomes: Outcomes, job: int, has_utility: bool = True) -> dict[str, Any]:
    """Outcome of one job in one run as plain data; None for what has not happened."""
    names = ("start_ms", "finish_ms", "completed_ms", "stopped_ms")
    times = {name: int(getattr(outcomes, name)[job]) for name in names}
    jct = outcomes.jct_ms[job] if outcomes.completed_ms[job] >= 0 else None
    return {
        "state": STATES[int(outcomes.states[job])],
        **{name: None if value == NEVER else value for name, value in times.items()},
        "jct_ms": None if jct is None else int(jct),
        "utility": float(outcomes.utility[job]) if has_utility else None,
        "preemptions": int(outcomes.preemptions[job]),
    }
