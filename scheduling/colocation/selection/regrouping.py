"""Selection of groups for a regrouping, and of a waiting job that replaces a completed one [Harmony, Section IV-B4]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

SIMILAR = 0.05  # relative, of the iteration time and of the share of computation; the paper's is of comp / comm
MAX_ALL_SUBSETS = 6  # groups up to which every set of them is evaluated, as the paper says
MAX_SETS = 8  # beyond
MAX_TRIPLES = 40  # waiting jobs up to which three together may replace one


class Side(NamedTuple):
    """Candidate group beside the one that lost a job."""

    group: int
    jobs: int
    score: float


def similar(comp: float, comm: float, comps: np.ndarray, comms: np.ndarray) -> list[int] | None:
    """The positions of the one, two or three waiting jobs whose iteration time and share of computation are together
    closest to the finished job's.

    Both have to be within SIMILAR; fewer jobs go first. All times at the degree of parallelism of its group. None when
    nothing is similar.
    """
    time = comp + comm
    small = np.flatnonzero(comps + comms <= time * (1 + SIMILAR) * (1 + 1e-9))  # others are too long even alone
    comps, comms = comps[small], comms[small]
    if not len(comps) or time <= 0:
        return None
    share = comp / time
    for size in (1, 2, 3):
        if len(comps) < size or (size == 3 and len(comps) > MAX_TRIPLES):
            return None
        sums_comp, sums_comm = _sums(comps, size), _sums(comms, size)
        times = sums_comp + sums_comm
        with np.errstate(divide="ignore", invalid="ignore"):
            off_time = np.abs(times - time) / time
            shares = np.where(times > 0, sums_comp / times, 0.0)
            off_share = np.where(share > 0, np.abs(shares - share) / share, np.where(shares > 0, np.inf, 0.0))
        off = np.where(
            (off_time <= SIMILAR) & (off_share <= SIMILAR) & _ascending(len(comps), size), off_time + off_share, np.inf
        )
        best = int(off.argmin())
        if np.isfinite(off.flat[best]):
            return [int(small[i]) for i in np.unravel_index(best, off.shape)]
    return None


def candidate_sets(others: Sequence[Side]) -> list[list[int]]:
    """The sets of other groups to involve, by the number of jobs that take part; the empty set is the group on its own.

    Groups are added with the fewest jobs first, then with the lowest score (the paper's order); with few groups every
    set is evaluated.
    """
    ordered = sorted(others, key=lambda side: (side.jobs, side.score, side.group))
    if len(others) < MAX_ALL_SUBSETS:
        sets = [list(chosen) for size in range(len(ordered) + 1) for chosen in combinations(ordered, size)]
    else:
        sets = [list(ordered[:size]) for size in range(min(MAX_SETS - 1, len(ordered)) + 1)]
        if len(sets[-1]) < len(ordered):
            sets[-1] = list(ordered)  # and the whole site
    sets.sort(key=lambda chosen: sum(side.jobs for side in chosen))
    return [[side.group for side in chosen] for chosen in sets]


def _sums(values: np.ndarray, size: int) -> np.ndarray:
    """[i, j, ...]: the sums of n of the values."""
    total = values
    for _ in range(size - 1):
        total = total[..., None] + values
    return total


def _ascending(count: int, size: int) -> np.ndarray:
    """Choices of positions, each one once."""
    axes = np.ogrid[(slice(count),) * size]
    chosen = np.ones((count,) * size, dtype=bool)
    for one, other in pairwise(axes):
        chosen &= one < other
    return chosen
