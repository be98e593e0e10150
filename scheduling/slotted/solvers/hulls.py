"""Lower convex hulls of options, and options that no other one dominates; for the bounds of knapsack.py."""

from __future__ import annotations

import numpy as np

SHORTEN = 4  # edges of a hull; later ones are left out
Edges = tuple[np.ndarray, ...]  # parallel arrays: slope, step (gain), extra cost, option, kind


def hulls(gain: np.ndarray, cost: np.ndarray) -> list[Edges]:
    """The lower convex hulls of rows of options by rising gain, from (0, 0): all rows' first edges, then the second.

    Parallel arrays in each: slope, step (gain), extra cost, place of the option in its row, row.
    """
    found: list[Edges] = []
    rows = own = np.arange(len(gain))
    at_gain, at_cost = np.zeros((len(gain), 1)), np.zeros((len(gain), 1))
    skipped = 0  # places at the beginning that are behind all
    with np.errstate(divide="ignore", invalid="ignore"):
        while gain.size:
            ahead = gain - at_gain
            slope = cost - at_cost
            slope /= ahead
            slope[ahead <= 0] = np.inf
            place = gain.shape[1] - 1 - slope[:, ::-1].argmin(axis=1)  # the farthest of equal slopes
            least = slope[own, place]
            if least.max() == np.inf:
                going = np.flatnonzero(least < np.inf)
                if not len(going):
                    break
                rows, place, least, ahead = rows[going], place[going], least[going], ahead[going]
                gain, cost, at_gain, at_cost = gain[going], cost[going], at_gain[going], at_cost[going]
                own = own[: len(going)]
            step, next_cost = ahead[own, place], cost[own, place]
            found.append((least, step, next_cost - at_cost[:, 0], place + skipped, rows))
            at_gain, at_cost = at_gain + step[:, None], next_cost[:, None]
            if len(found) % SHORTEN == 0:
                behind = int(place.min()) + 1
                gain, cost, skipped = gain[:, behind:], cost[:, behind:], skipped + behind
    return found


def undominated(gain: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of each row by gain, their gains, and costs: infinite if another is no worse in work and cost.

    Of equal options the first column stays.
    """
    order = np.argsort(-gain, axis=1, kind="stable")[:, ::-1]  # of equal gains the first column last
    own = np.arange(len(gain))[:, None]
    sorted_gain, sorted_cost = gain[own, order], cost[own, order]
    later = np.minimum.accumulate(sorted_cost[:, ::-1], axis=1)[:, ::-1]
    sorted_cost[:, :-1][sorted_cost[:, :-1] >= later[:, 1:]] = np.inf
    return order, sorted_gain, sorted_cost
