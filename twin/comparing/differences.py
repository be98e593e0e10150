"""Two runs job by job: what kind of difference there is, and the rows that tell it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.comparing.lives import NEVER, STATES, Lives

KINDS = {
    "shifted": "starts or finishes at another time, or in only one of the two",
    "moved": "its workers stand on other servers",
    "admitted": "rejected in the base, not in the other",
    "rejected": "rejected in the other, not in the base",
    "preempted": "stopped by a decision more often in one of the two",
}
BIT = {name: 1 << i for i, name in enumerate(KINDS)}
REJECTED = STATES.index("rejected")


def kinds(base: Lives, other: Lives, rows: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """[shared job] sum of BITs; 0 = the same in both, or not arrived in one of them. rows: its index in each run."""
    mine, yours = rows
    arrived = (base.arrived_ms[mine] >= 0) & (other.arrived_ms[yours] >= 0)
    refused, refused_there = base.states[mine] == REJECTED, other.states[yours] == REJECTED
    shifted = (base.start_ms[mine] != other.start_ms[yours]) | (base.finish_ms[mine] != other.finish_ms[yours])
    on, on_there = base.servers[mine], other.servers[yours]
    neither = ~refused & ~refused_there
    mask = np.zeros(len(mine), dtype=np.uint8)
    for name, found in {
        "shifted": shifted & neither,
        "moved": (on != on_there) & (on != 0) & (on_there != 0) & neither,
        "admitted": refused & ~refused_there,
        "rejected": ~refused & refused_there,
        "preempted": base.preemptions[mine] != other.preemptions[yours],
    }.items():
        mask |= (found & arrived).astype(np.uint8) * np.uint8(BIT[name])
    return mask


def counts(mask: np.ndarray) -> dict[str, int]:
    """{kind: jobs}; a job may be of several kinds."""
    return {name: int(((mask & bit) != 0).sum()) for name, bit in BIT.items()}


def names_of(mask: int) -> list[str]:
    """The kinds in a sum of BITs."""
    return [name for name, bit in BIT.items() if mask & bit]


def life(lives: Lives, job: int) -> dict[str, Any]:
    """One job of one run as plain data; None where it has not happened."""
    times = {name: int(getattr(lives, name)[job]) for name in ("start_ms", "finish_ms", "completed_ms")}
    jct = lives.jct_ms[job] if lives.completed_ms[job] >= 0 else None
    return {
        "state": STATES[int(lives.states[job])],
        **{name: None if value == NEVER else value for name, value in times.items()},
        "jct_ms": None if jct is None else int(jct),
        "utility": float(lives.utility[job]),
        "preemptions": int(lives.preemptions[job]),
    }
