"""The cheapest placement of y workers and ceil(y / gamma) parameter servers on any machines.

A small integer program (PD-ORS, Problem 23 in integers).

The greedy placement is known beforehand. What cannot be part of a cheaper one is left out of the program: by weak
duality, at any prices u, v >= 0 of a worker and a parameter server, machine h with units on it costs at least

    u y + v z - sum of phi over all machines + (phi_h - the best that h does with units on it),

where phi_h is the most that h can gain with the whole units that fit it. Where even the bound itself reaches the greedy
cost, there is nothing to solve.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

CLOSE = 1e-9  # relative; an improvement of less is none
STEPS = 24  # of the search for u and v
MAX_NODES = 5_000  # of the solver's tree: unlike a time limit, the same on every machine
MAX_CELLS = 50_000  # machines x parameter servers of the bound


class Machines(NamedTuple):
    """The state of the machines in one slot, seen by one job; arrays begin with the axis [server]."""

    free: np.ndarray  # thousandths, [server, resource], of the resources that either role demands
    worker: np.ndarray  # demands, [resource]
    ps: np.ndarray
    worker_cost: np.ndarray
    ps_cost: np.ndarray
    worker_room: np.ndarray  # units that fit beside nothing else; 0 where the role is not allowed
    ps_room: np.ndarray


class Exact(NamedTuple):
    """Result of the solver. status: optimal | bound (none is better) | infeasible | limit (time or nodes) | error."""

    status: str
    cost: float = math.inf
    workers: dict[int, int] | None = None  # {server: count}
    ps: dict[int, int] | None = None


def cheapest(machines: Machines, workers: int, ps: int, known: float, time_limit: float) -> Exact:
    """A placement cheaper than `known` (infinite if none is known), or why there is none."""
    if machines.worker_room.sum() < workers or machines.ps_room.sum() < ps:
        return Exact("infeasible")
    hosts = np.flatnonzero((machines.worker_room > 0) | (machines.ps_room > 0))
    if math.isfinite(known):
        kept, bound = _candidates(machines, hosts, workers, ps, known)
        if bound >= known * (1 - CLOSE):
            return Exact("bound")
        hosts = hosts[kept]
    return _solve(machines, hosts, workers, ps, known, time_limit)


def _solve(machines: Machines, hosts: np.ndarray, workers: int, ps: int, known: float, time_limit: float) -> Exact:
    n = len(hosts)
    if not n:
        return Exact("bound")
    resources = np.arange(machines.free.shape[1])
    rows = (np.arange(n)[:, None] * len(resources) + resources).ravel()
    columns = np.repeat(np.arange(n), len(resources))
    data = np.concatenate((np.tile(machines.worker, n), np.tile(machines.ps, n), np.ones(2 * n))).astype(float)
    cover = n * len(resources)
    row = np.concatenate((rows, rows, np.full(n, cover), np.full(n, cover + 1)))
    column = np.concatenate((columns, columns + n, np.arange(2 * n)))
    # in whole units, which the solver's tolerances are made for
    data[: 2 * cover] /= 1000
    low = np.concatenate((np.full(cover, -np.inf), (workers, ps)))
    high = np.concatenate((machines.free[hosts].ravel() / 1000, (np.inf, np.inf)))
    cost = np.concatenate((machines.worker_cost[hosts], machines.ps_cost[hosts]))
    scale = float(cost.max(initial=0.0)) or 1.0
    most = np.concatenate((np.minimum(machines.worker_room[hosts], workers), np.minimum(machines.ps_room[hosts], ps)))
    try:
        result = milp(
            cost / scale, integrality=np.ones(2 * n), bounds=Bounds(0, most.astype(float)),
            constraints=LinearConstraint(csr_matrix((data, (row, column)), shape=(cover + 2, 2 * n)), low, high),
            options={"time_limit": time_limit, "node_limit": MAX_NODES, "mip_rel_gap": 0.0},
        )  # fmt: skip
    except (ValueError, ArithmeticError):
        return Exact("error")
    stopped = result.status == 4 and (result.get("mip_node_count") or 0) >= MAX_NODES
    status = "limit" if stopped else {0: "optimal", 1: "limit", 2: "infeasible"}.get(result.status, "error")
    if result.x is None:
        return Exact("bound" if status == "infeasible" and math.isfinite(known) else status)
    counts = np.rint(result.x).astype(np.int64)
    w, s = counts[:n], counts[n:]
    held = w[:, None] * machines.worker + s[:, None] * machines.ps
    if (
        w.sum() < workers
        or s.sum() < ps
        or (held > machines.free[hosts]).any()
        or (counts > most).any()
        or (counts < 0).any()
    ):
        return Exact("error")  # not a solution in exact integers
    total = float(w @ machines.worker_cost[hosts] + s @ machines.ps_cost[hosts])
    if w.sum() != workers or s.sum() != ps or total >= known * (1 - CLOSE):
        return Exact("bound" if status == "optimal" else status)
    where_w, where_s = ({int(h): int(c) for h, c in zip(hosts, c_, strict=True) if c} for c_ in (w, s))
    return Exact(status, total, where_w, where_s)


def _candidates(machines: Machines, hosts: np.ndarray, workers: int, ps: int, known: float) -> tuple[np.ndarray, float]:
    """Candidates [host] for a placement cheaper than `known`, and a lower bound of all placements."""
    deepest = int(min(ps, machines.ps_room[hosts].max(initial=0)))
    everything = np.ones(len(hosts), dtype=bool)
    if len(hosts) * (deepest + 1) > MAX_CELLS:
        return everything, 0.0
    s = np.arange(deepest + 1)
    w = np.full((len(hosts), deepest + 1), workers, dtype=np.int64)
    for r in range(machines.free.shape[1]):
        if machines.worker[r]:
            np.minimum(w, (machines.free[hosts, r][:, None] - s * machines.ps[r]) // machines.worker[r], out=w)
    w = np.minimum(w, machines.worker_room[hosts][:, None])
    fits = (s <= machines.ps_room[hosts][:, None]) & (w >= 0)
    w = np.maximum(w, 0).astype(float)
    cw, cs = machines.worker_cost[hosts][:, None], machines.ps_cost[hosts][:, None]
    order = np.sort(np.repeat(machines.worker_cost[hosts], np.minimum(machines.worker_room[hosts], workers)))
    u = float(order[min(workers, len(order)) - 1])
    order = np.sort(np.repeat(machines.ps_cost[hosts], np.minimum(machines.ps_room[hosts], ps)))
    v = float(order[min(ps, len(order)) - 1])
    best, keep = -np.inf, everything
    own = np.arange(len(hosts))
    for _ in range(STEPS):
        value = np.where(fits, np.maximum(u - cw, 0.0) * w + (v - cs) * s, -np.inf)
        choice = value.argmax(axis=1)
        phi = value[own, choice]
        bound = u * workers + v * ps - float(phi.sum())
        if bound > best:
            # with anything at all on it, a host gains at most `some`
            some = np.maximum(
                value[:, 1:].max(axis=1, initial=-np.inf), np.where(w[:, 0] > 0, _one(u - cw[:, 0], w[:, 0]), -np.inf)
            )
            best, keep = bound, bound + phi - some < known * (1 - CLOSE)
            if best >= known * (1 - CLOSE):
                break
        at = w[own, choice] * (u > cw[:, 0])
        slope_u, slope_v = workers - float(at.sum()), ps - float(choice.sum())
        size = slope_u**2 + slope_v**2
        if not size:
            break
        step = (known - bound) / size  # Polyak's, to the cost that is known
        u, v = max(0.0, u + step * slope_u), max(0.0, v + step * slope_v)
    return keep, best


def _one(margin: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The best that 1 .. most workers gain at a margin each."""
    return np.where(margin > 0, margin * most, margin)
