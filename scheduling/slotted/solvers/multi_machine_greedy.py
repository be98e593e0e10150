"""Workers and parameter servers of a job on any machines: a nested greedy placement for every worker count at once.

PD-ORS, Algorithm 4 with a greedy search in place of the linear program and its rounding.

Worker after worker goes to the cheapest machine on which it fits; whenever ceil(y / gamma) grows, a parameter server
goes first. The placement of y workers is a beginning of that of more, so one pass gives the cost of all y. It goes in
strides: as many whole groups (a parameter server and its gamma workers) as the two machines at hand take. A second pass
puts parameter servers where no worker fits, if there are such machines; each y keeps the cheaper. Not always the
cheapest of all: see multi_machine_exact.py. `least_costs` bounds all y from below; where the two agree the greedy
placement is the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.slotted.solvers.slot_cost import marginal_costs, prefix

Strides = list[tuple[int, int]]  # (server, units), in the order in which they were placed


@dataclass(frozen=True, slots=True)
class Nested:
    """Placements of 0, 1, ... `reach` workers."""

    reach: int
    workers: Strides
    ps: Strides

    def costs(self, worker_cost: np.ndarray, ps_cost: np.ndarray, ps_of: np.ndarray) -> np.ndarray:
        """Cost of 0, 1, ... workers, infinite beyond the reach. worker_cost, ps_cost: [server]."""
        cost = np.full(len(ps_of), np.inf)
        ps = _prefix(self.ps, ps_cost)
        known = min(self.reach + 1, len(cost))
        cost[:known] = _prefix(self.workers, worker_cost)[:known] + ps[ps_of[:known]]
        return cost

    def place(self, workers: int, ps: int) -> tuple[dict[int, int], dict[int, int]]:
        """{server: count} of the workers and of the parameter servers of that many workers."""
        return first_units(self.workers, workers), first_units(self.ps, ps)

    def single(self, ps_of: np.ndarray) -> int:
        """Maximum number of workers that fit on one machine."""
        if not self.workers or not self.ps or self.workers[0][0] != self.ps[0][0]:
            return 0
        mates = _leading(self.ps)
        return min(_leading(self.workers), int(np.searchsorted(ps_of, mates, side="right")) - 1)


def least_costs(
    worker_cost: np.ndarray, ps_cost: np.ndarray, worker_room: np.ndarray, ps_room: np.ndarray, ps_of: np.ndarray,
    orders: Sequence[np.ndarray] | None = None,
) -> np.ndarray:  # fmt: skip
    """A lower bound of the cost of 0, 1, ... workers, [slot, workers]: each role has all the room.

    worker_cost, ps_cost, worker_room, ps_room: [slot, server]; orders: the servers by price for each role, when known
    """
    worker_order, ps_order = orders or (None, None)
    workers = prefix(marginal_costs(worker_cost, worker_room, len(ps_of) - 1, worker_order))
    return workers + prefix(marginal_costs(ps_cost, ps_room, int(ps_of[-1]), ps_order))[:, ps_of]


def apart(
    free: np.ndarray, worker: Sequence[int], ps: Sequence[int], worker_order: np.ndarray, ps_cost: np.ndarray,
    worker_room: np.ndarray, ps_room: np.ndarray, workers: np.ndarray, parameter_servers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """True where the bound of n units in a slot is a placement, and the order in which roles fill up.

    Both take their cheapest machines, parameter servers, of equal ones, those that workers take last. If that many fit
    beside each other, so do fewer, and `least_costs` are costs. free: thousandths, [resource, slot, server];
    worker_order: the servers by the price of a worker, [slot, place]
    """
    rows = np.arange(len(ps_cost))[:, None]
    turned = worker_order[:, ::-1]
    price = np.where(ps_room > 0, ps_cost, np.inf)[rows, turned]
    ps_order = turned[rows, np.argsort(price, axis=1, kind="stable")]
    counts = []
    for order, room, wanted in ((worker_order, worker_room, workers), (ps_order, ps_room, parameter_servers)):
        sorted_room = room[rows, order]
        left = wanted[:, None] + sorted_room - np.cumsum(sorted_room, axis=1)
        count = np.empty_like(room)
        count[rows, order] = np.maximum(np.minimum(left, sorted_room), 0)
        counts.append(count)
    fits = np.ones(len(ps_cost), dtype=bool)
    for amount, w, s in zip(free, worker, ps, strict=True):
        fits &= (counts[0] * w + counts[1] * s <= amount).all(axis=1)
    return fits, worker_order, ps_order


def nested_greedy(
    free: np.ndarray, worker: Sequence[int], ps: Sequence[int], worker_order: Sequence[int], ps_order: Sequence[int],
    workers_per_ps: int, most: int,
) -> Nested:  # fmt: skip
    """Placement of up to `most` workers.

    free                    thousandths, [server, resource], of the resources that either role demands
    worker, ps              demands, [resource]
    worker_order, ps_order  the servers on which one unit fits, in order of preference
    """
    left: list[list[int]] = free.tolist()
    resources = range(len(worker))
    for_worker = [(r, worker[r]) for r in resources if worker[r]]
    for_ps = [(r, ps[r]) for r in resources if ps[r]]
    bundle = [workers_per_ps * w + p for w, p in zip(worker, ps, strict=True)]
    for_bundle = [(r, bundle[r]) for r in resources if bundle[r]]
    placed_workers: Strides = []
    placed_ps: Strides = []
    reach = support = worker_at = ps_at = 0
    servers = len(worker_order)
    while reach < most and worker_at < servers:
        server = worker_order[worker_at]
        room = left[server]
        if support:
            count = most - reach if most - reach < support else support
            for r, amount in for_worker:
                fit = room[r] // amount
                if fit < count:
                    count = fit
            if count:
                for r, amount in for_worker:
                    room[r] -= count * amount
                placed_workers.append((server, count))
                reach += count
                support -= count
            if support:
                worker_at += 1
            continue
        if ps_at == len(ps_order):
            break
        host = ps_order[ps_at]
        groups = (most - reach) // workers_per_ps
        if host == server:
            for r, amount in for_bundle:
                fit = room[r] // amount
                if fit < groups:
                    groups = fit
            if groups:
                for r, amount in for_bundle:
                    room[r] -= groups * amount
        else:
            other = left[host]
            for r, amount in for_ps:
                fit = other[r] // amount
                if fit < groups:
                    groups = fit
            for r, amount in for_worker:
                fit = room[r] // (amount * workers_per_ps)
                if fit < groups:
                    groups = fit
            if groups:
                for r, amount in for_ps:
                    other[r] -= groups * amount
                for r, amount in for_worker:
                    room[r] -= groups * amount * workers_per_ps
            room = other
        if groups:
            placed_ps.append((host, groups))
            placed_workers.append((server, groups * workers_per_ps))
            reach += groups * workers_per_ps
            if reach == most:
                break
        for r, amount in for_ps:
            if room[r] < amount:
                ps_at += 1
                break
        else:  # the workers of this one do not all fit on one machine, or are the last
            for r, amount in for_ps:
                room[r] -= amount
            placed_ps.append((host, 1))
            support = workers_per_ps
    return Nested(reach, placed_workers, placed_ps)


def _prefix(strides: Strides, unit: np.ndarray) -> np.ndarray:
    if not strides:
        return np.zeros(1)
    servers, counts = zip(*strides, strict=True)
    each = unit[list(servers)].repeat(counts)
    total = np.zeros(len(each) + 1)
    each.cumsum(out=total[1:])
    return total


def first_units(strides: Iterable[tuple[int, int]], wanted: int) -> dict[int, int]:
    """{server: count} of the first units of the strides."""
    placed: dict[int, int] = {}
    for server, count in strides:
        if count >= wanted:
            if wanted:
                placed[server] = placed.get(server, 0) + wanted
            break
        if count:
            placed[server] = placed.get(server, 0) + count
            wanted -= count
    return placed


def _leading(strides: Strides) -> int:
    """Units on the first server before another gets some."""
    total = 0
    for server, count in strides:
        if server != strides[0][0]:
            break
        total += count
    return total
