"""Number of machines of each group [Harmony, Section IV-B3]: one each, then one by one where need is largest.

A group needs a machine the more, the larger its ratio of computation to communication: the paper leaves the measure
open, and a difference in seconds would feed only long groups. So the paper's loop is Adams' apportionment of these
ratios, and has a closed form: find the price at which the machines are used up. Differs from the paper: a group begins
with the machines that its memory needs.
"""

from __future__ import annotations

import numpy as np

MIN_MS = 1e-9  # of communication: a group without any has a finite ratio
_STEPS = 30  # of bisection: few enough that rounding does not decide between equals
_MAX_LEFT = 4  # machines left that are given one by one


def ratios(comp: np.ndarray, comm: np.ndarray) -> np.ndarray:
    """[..., group]: machine-ms of computation for each ms of communication."""
    return comp / np.maximum(comm, MIN_MS)


def allocate(ratio: np.ndarray, machines: int, floors: np.ndarray) -> np.ndarray:
    """[batch, group] machines, `machines` in each row. A place without a group has ratio -1 and floor 0.

    floors: the machines that a group begins with; each row's sum is at most `machines`.
    """
    need = np.maximum(ratio, 0.0)
    total, begin = need.sum(axis=1), floors.sum(axis=1)
    counts = floors.astype(np.int64)
    spare = machines - begin
    # between these prices the machines are used up: a group gets between need / price and floor + need / price
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = total / machines, total / spare
        for _ in range(_STEPS):
            wanted = _at(need, high, floors)
            left = machines - wanted.sum(axis=1)
            counts = np.where((left >= 0)[:, None], wanted, counts)
            if (machines - counts.sum(axis=1) <= _MAX_LEFT).all():
                break
            price = (low + high) / 2
            fits = _at(need, price, floors).sum(axis=1) <= machines
            low, high = np.where(fits, low, price), np.where(fits, price, high)
    rows = np.arange(len(counts))
    left = machines - counts.sum(axis=1)
    idle = (total == 0) & (left > 0)  # no group computes: all that is left goes to the first group, as one by one
    counts[idle, 0] += left[idle]
    left = np.where(idle, 0, left)
    while (left > 0).any():
        most = np.argmax(np.where(ratio >= 0, ratio / np.maximum(counts, 1), -1.0), axis=1)
        counts[rows, most] += left > 0
        left = left - 1
    return counts


def _at(need: np.ndarray, price: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """Machines that each group takes for as long as another one is worth more than the price."""
    wanted = np.ceil(need / price[:, None] * (1 - 1e-12))
    return np.maximum(floors, np.where(np.isfinite(wanted), wanted, 0)).astype(np.int64)
