"""The cheapest way to place y units in one slot, for every y at once (OASiS, Algorithm 2, COST_t).

Workers and parameter servers are on different servers, and prices do not move while one job is placed: so the
cheapest y units are the y cheapest single units, server by server in order of price, and the cost of all y is one
prefix sum.
"""

from __future__ import annotations

import numpy as np


def cheapest_first(unit: np.ndarray, room: np.ndarray) -> np.ndarray:
    """The servers of each slot by price, [slot, place]; equal prices: lowest server first, those without room last."""
    return np.argsort(np.where(room > 0, unit, np.inf), axis=1, kind="stable")


def marginal_costs(unit: np.ndarray, room: np.ndarray, most: int, order: np.ndarray | None = None) -> np.ndarray:
    """Cost of the 1st, 2nd, ... `most`-th unit in each slot, [slot, unit]; infinite beyond what there is room for.

    unit   price of one unit, [slot, server]
    room   units that fit, [slot, server]
    order  the servers by price, when that is known (`cheapest_first`)
    """
    slots = len(unit)
    # equal prices give equal marginal costs in any order
    by_price = np.argsort(unit, axis=1) if order is None else order
    flat = by_price + np.arange(0, unit.size, unit.shape[1] or 1)[:, None] if slots else by_price
    counts = np.empty((slots, unit.shape[1] + 1), dtype=np.int64)
    counts[:, :-1] = room.ravel()[flat]
    before = np.cumsum(counts[:, :-1], axis=1)
    np.minimum(before, most, out=before)
    counts[:, :-1] = before
    counts[:, -1] = most
    counts[:, 1:] -= before
    costs = np.full((slots, unit.shape[1] + 1), np.inf)
    costs[:, :-1] = unit.ravel()[flat]
    return np.repeat(costs.ravel(), counts.ravel()).reshape(slots, most)


def prefix(marginal: np.ndarray) -> np.ndarray:
    """Cost of 0, 1, ... units from the cost of each further one, [slot, units]."""
    total = np.zeros((len(marginal), marginal.shape[1] + 1))
    np.cumsum(marginal, axis=1, out=total[:, 1:])
    return total


def fill(unit: np.ndarray, room: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of the `wanted[slot]` cheapest units: rows (slot), servers, counts. Equal prices: lowest server."""
    order = np.argsort(unit, axis=1, kind="stable")
    counts = np.take_along_axis(room, order, axis=1)
    before = np.cumsum(counts, axis=1) - counts
    counts = np.clip(wanted[:, None] - before, 0, counts)
    rows, places = np.nonzero(counts)
    return rows, order[rows, places], counts[rows, places]


def relaxed_marginals(worker: np.ndarray, ps: np.ndarray, ps_per_worker: float) -> np.ndarray:
    """Cost of each further worker when parameter servers may be split, [slot, worker]; never more than the real cost.

    worker, ps     marginal costs, [slot, unit]
    ps_per_worker  b / B
    The sum of the real PS costs up to ceil(y b / B) is at least their linear interpolation at y b / B, which is convex.
    """
    needed = np.arange(worker.shape[1] + 1) * ps_per_worker
    whole = np.minimum(needed.astype(np.int64), ps.shape[1])
    part = needed - whole
    split = prefix(ps)[:, whole]
    inside = (part > 0) & (whole < ps.shape[1])  # 0 * infinity would spoil the capacity edge
    split[:, inside] += ps[:, whole[inside]] * part[inside]
    if (split[:, -1] < np.inf).all():  # it never falls
        return worker + (split[:, 1:] - split[:, :-1])
    with np.errstate(invalid="ignore"):
        step = np.diff(split, axis=1)
    return worker + np.where(np.isnan(step), np.inf, step)
