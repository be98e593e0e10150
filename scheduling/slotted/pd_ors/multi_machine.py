"""Placement of one job on several machines [PD-ORS, Algorithm 4, steps 8 to 11].

For each kind of slots and number of workers: a bound of the cost, which often is a placement itself; the nested greedy
placements; or a better one that a solver found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.slotted.pd_ors.job_view import View
from scheduling.slotted.solvers.multi_machine_greedy import Nested, apart, first_units, least_costs, nested_greedy


class Places(NamedTuple):
    """{server: count} in one slot."""

    workers: dict[int, int]
    ps: dict[int, int]

    def on_one_machine(self) -> bool:
        return len({*self.workers, *self.ps}) == 1


class Greedy(NamedTuple):
    """Greedy placements of one kind of slots, and the cost of each for 0, 1, ... workers, [try, workers]."""

    tries: tuple[Nested, ...]
    costs: np.ndarray


class Outside:
    """Placements of one job."""

    def __init__(self, view: View) -> None:
        self.view = view
        # [kind, workers], at most what they cost
        self.least = least_costs(*view.unit, *view.room, view.ps_of, view.orders)
        reach = np.isfinite(self.least).sum(axis=1) - 1
        self.needs = view.alpha.tolist(), view.beta.tolist()  # thousandths of a worker and a parameter server
        # tight: [kind] whether the bounds are what a placement costs
        self.tight, *self.filling = apart(
            view.free, *self.needs, view.orders[0], view.unit[1], *view.room, reach, view.ps_of[reach]
        )
        self.greedy: dict[int, Greedy] = {}
        self.solved: dict[tuple[int, int], Places] = {}  # (kind, workers) -> the placement used instead

    def nest(self, kind: int, most: int) -> np.ndarray:
        """Greedy placements of a class for up to `most` workers: their costs, [try, workers]."""
        view, ps_of = self.view, self.view.ps_of[: most + 1]
        unit = view.unit[0][kind], view.unit[1][kind]
        free = view.free[:, kind].T
        worker_order, ps_order = view.hosts_of(kind, 0).tolist(), view.hosts_of(kind, 1)
        tries = [nested_greedy(free, *self.needs, worker_order, ps_order.tolist(), view.group, most)]
        costs = tries[0].costs(*unit, ps_of)[None]
        if (costs[0] > self.least[kind, : most + 1]).any():  # otherwise it is the cheapest
            spare = view.room[0][kind][ps_order] == 0  # machines on which no worker fits
            if spare.any() and not spare.all():
                aside = np.concatenate((ps_order[spare], ps_order[~spare])).tolist()
                tries.append(nested_greedy(free, *self.needs, worker_order, aside, view.group, most))
                costs = np.vstack((costs, tries[1].costs(*unit, ps_of)))
        self.greedy[kind] = Greedy(tuple(tries), costs)
        return costs

    def reach(self, kind: int) -> int:
        """Maximum number of workers that the greedy placements hold."""
        return max(nested.reach for nested in self.greedy[kind].tries)

    def place(self, kind: int, workers: int, peak: int, cost: float) -> Places:
        """Placement of that many workers at that cost. peak: the most that will be requested in this class of slots."""
        if (kind, workers) in self.solved:
            return self.solved[kind, workers]
        if kind not in self.greedy:
            self.nest(kind, peak)
        ps = int(self.view.ps_of[workers])
        tries, costs = self.greedy[kind]
        best = int(costs[:, workers].argmin())
        if costs[best, workers] <= cost:
            return Places(*tries[best].place(workers, ps))
        rows = zip(self.filling, self.view.room, (workers, ps), strict=True)  # cheaper, as `apart` fills up
        return Places(*(first_units(zip(order[kind].tolist(), room[kind, order[kind]].tolist(), strict=True), wanted)
                        for order, room, wanted in rows))  # fmt: skip
