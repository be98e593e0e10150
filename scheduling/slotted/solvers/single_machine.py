"""Workers and parameter servers of a job on one machine: the cheapest machine for every worker count.

PD-ORS, Algorithm 4, steps 2 to 7.

What w workers with ceil(w / gamma) parameter servers need grows with w in every resource, so the room of a machine is
one number, and the cheapest machine for w is the cheapest of those with at least that room.
"""

from __future__ import annotations

import numpy as np

CELLS = 500_000  # slots x servers x workers evaluated together
LARGE = 1 << 62  # thousandths; more than any machine has


def pair_room(free: np.ndarray, worker: np.ndarray, ps: np.ndarray, workers_per_ps: int, most: int) -> np.ndarray:
    """Maximum workers, with their parameter servers, that fit on each machine: [slot, server], at most `most`.

    free  thousandths, [resource, slot, server]; worker, ps  demands, [resource]
    """
    room = np.full(free.shape[1:], most, dtype=np.int64)
    for amount, alpha, beta in zip(free, worker.tolist(), ps.tolist(), strict=True):
        bundle = min(workers_per_ps * alpha + beta, LARGE)
        if not bundle:
            continue
        full = amount // bundle
        fits = full * workers_per_ps
        if alpha:  # some workers of a group that is not full
            fits += np.maximum((amount - full * bundle - beta) // alpha, 0)
        np.minimum(room, fits, out=room)
    return room


def internal_costs(
    room: np.ndarray, worker_cost: np.ndarray, ps_cost: np.ndarray, ps_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cost of 0, 1, ... workers on one machine, and the machine, [slot, workers]; infinite and -1 where none has room.

    room, worker_cost, ps_cost  [slot, server]; ps_of  parameter servers of 0, 1, ... workers
    Equal costs: the lowest machine.
    """
    slots, servers = room.shape
    most = min(int(room.max(initial=0)), len(ps_of) - 1)
    cost = np.full((slots, most + 1), np.inf)
    place = np.full((slots, most + 1), -1, dtype=np.int64)
    cost[:, 0] = 0.0
    width = max(1, CELLS // max(1, slots * servers))
    for low in range(1, most + 1, width):
        workers = np.arange(low, min(most + 1, low + width))
        total = worker_cost[:, None, :] * workers[:, None] + ps_cost[:, None, :] * ps_of[workers][:, None]
        total[room[:, None, :] < workers[:, None]] = np.inf
        best = total.argmin(axis=2)
        found = np.take_along_axis(total, best[:, :, None], axis=2)[:, :, 0]
        cost[:, workers] = found
        place[:, workers] = np.where(np.isfinite(found), best, -1)
    return cost, place
