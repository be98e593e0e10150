"""Randomized rounding of the relaxed placement, as the paper has it (PD-ORS, Algorithm 4 and Theorems 3 and 4).

The fractions are multiplied by a gain G and each is rounded up with the probability of its fractional part, down
otherwise. G > 1 favours covering the work, G < 1 the capacities. For a probability of failure delta the paper's lemmas
ask for a G with (1 - G)^2 / G = 3 ln(3 r / delta) / W_b, at most 1 (Lemma 1, r packing rows), or 2 ln(3 m / delta) /
W_a, at least 1 (Lemma 2, m covering rows): see `gain`.

Differs from the paper:
- A placement must be feasible in exact integers: capacities, y <= sum w <= F, sum s >= ceil(sum w / gamma). The paper
  accepts that the work is not quite covered, or drops the job.
- There are two rows to cover, workers and parameter servers, so m = 2.
- G = 1, which neither Eq. (29) nor (30) gives, is best in the paper's Figure 11 and the default.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

BATCH = 64  # tries that are sampled together


class Rounded(NamedTuple):
    """A feasible rounding: units on each host."""

    cost: float
    workers: dict[int, int]  # host: count
    ps: dict[int, int]


def gain(failure_probability: float, width: float, rows: int, cover: bool) -> float:
    """G_delta: Eq. (29), at most 1, or with `cover` Eq. (30), at least 1.

    width  W_b or W_a: what a row's bound is in units of its largest coefficient; 0 gives G = 0 for packing
    """
    if width <= 0:
        return 1.0 if cover else 0.0
    if cover:
        k = math.log(3 * rows / failure_probability) / width
        return 1 + k + math.sqrt(k * k + 2 * k)
    k = 3 * math.log(3 * rows / failure_probability) / (2 * width)
    return 1 + k - math.sqrt(k * k + 2 * k)


def packing_width(free: np.ndarray, worker: np.ndarray, ps: np.ndarray, most: int) -> float:
    """W_2 of the paper: min of F and C / alpha, C / beta over positive demands and machines with room; 0 if none.

    free: thousandths, [server, resource]
    """
    width = float(most)
    for demand in (worker, ps):
        for r, amount in enumerate(demand.tolist()):
            room = free[:, r][free[:, r] > 0]
            if amount:
                width = min(width, float(room.min()) / amount if len(room) else 0.0)
    return width


def round_off(
    relaxed: np.ndarray, scale: float, workers: int, most: int, workers_per_ps: int, free: np.ndarray,
    worker: np.ndarray, ps: np.ndarray, cost: np.ndarray, room: np.ndarray, tries: int, first_feasible: int,
    rng: np.random.Generator,
) -> Rounded | None:  # fmt: skip
    """The cheapest of the first feasible roundings in at most `tries`; None when there are none.

    relaxed, cost, room  of the workers on each host, then of the parameter servers; room: 0 where the role may not
                         stand
    free                 thousandths, [host, resource]
    """
    aim = relaxed * scale
    whole = np.floor(aim + 1e-9)
    part = np.maximum(aim - whole, 0.0)
    hosts = len(free)
    used = np.flatnonzero((aim[:hosts] > 0) | (aim[hosts:] > 0))  # the others stay empty in every rounding
    columns = np.concatenate((used, used + hosts))
    fractional = np.flatnonzero(part[columns])
    least, chance, limit, price_of = whole[columns], part[columns][fractional], room[columns], cost[columns]
    left = free[used]
    best: Rounded | None = None
    found = 0
    for done in range(0, tries if len(chance) else 1, BATCH):  # without fractions all tries are the same
        count = min(BATCH, tries - done) if len(chance) else 1
        units = np.tile(least, (count, 1)).astype(np.int64)
        units[:, fractional] += rng.random((count, len(chance))) < chance
        w, s = units[:, : len(used)], units[:, len(used) :]
        total = w.sum(axis=1)
        feasible = (
            (total >= workers)
            & (total <= most)
            & (s.sum(axis=1) >= -(-total // workers_per_ps))
            & (units <= limit).all(axis=1)
        )
        for r in range(left.shape[1]):
            feasible &= (w * worker[r] + s * ps[r] <= left[:, r]).all(axis=1)
        for row in np.flatnonzero(feasible).tolist():
            price = float(units[row] @ price_of)
            if best is None or price < best.cost:
                best = Rounded(price, dict(_counts(used, w[row])), dict(_counts(used, s[row])))
            found += 1
            if found == first_feasible:
                return best
    return best


def _counts(hosts: np.ndarray, counts: np.ndarray) -> list[tuple[int, int]]:
    return [(host, count) for host, count in zip(hosts.tolist(), counts.tolist(), strict=True) if count]
