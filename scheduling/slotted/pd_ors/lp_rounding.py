"""Placements on several machines by the paper's method: the relaxation, rounded at random (PD-ORS, Algorithm 4).

Where no rounding is feasible the greedy placement stays; without one, an integer program searches for one. The same
where the solver of the relaxation fails: `failures` then counts it. Ours: nothing is solved for numbers of workers for
which one machine costs no more than the bound of several, since no plan would use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from scheduling.slotted.pd_ors.job_view import View
from scheduling.slotted.pd_ors.locality import PlacementSearch
from scheduling.slotted.pd_ors.multi_machine import Places
from scheduling.slotted.solvers.multi_machine_lp import Relaxation
from scheduling.slotted.solvers.rounding import gain, packing_width, round_off

COVERS = 2  # rows to cover, workers and parameter servers


class Rounding:
    """Placements for one job by rounding."""

    def __init__(self, view: View, search: PlacementSearch, seed: Sequence[int], failures: Counter[str]) -> None:
        """seed: of its draws, which are the same in whatever order the kinds of slots are asked for."""
        assert search.rounding is not None
        self.view, self.search, self.seed, self.failures = view, search, seed, failures
        self.gain, self.failure_probability, self.tries, self.first_feasible = search.rounding

    def placements(self, kind: int, wanted: list[int], known: np.ndarray) -> Iterator[tuple[int, float, Places | None]]:
        """(workers, cost, places) of some of the `wanted` numbers of workers; an infinite cost: not even fractions fit.

        known: [workers] cost of a greedy placement, infinite where there is none. Left out: where that stays.
        """
        view, machines = self.view, self.view.machines(kind)
        relaxation, rng = Relaxation(machines, self.search.solver_seconds), np.random.default_rng((*self.seed, kind))
        hosts = relaxation.hosts
        free, room = machines.free[hosts], np.concatenate((machines.worker_room[hosts], machines.ps_room[hosts]))
        width = packing_width(machines.free, view.alpha, view.beta, view.most)
        for workers in wanted:
            self.search.deadline.left()
            ps = int(view.ps_of[workers])
            status, relaxed = relaxation.solve(workers, ps)
            if status == "infeasible":
                yield workers, np.inf, None
                continue
            if relaxed is None:
                self.failures[f"relaxation_{status}"] += 1
            else:
                found = round_off(
                    relaxed, self._scale(width, min(workers, ps)), workers, view.most, view.group, free, view.alpha,
                    view.beta, relaxation.cost, room, self.tries, self.first_feasible, rng,
                )  # fmt: skip
                if found is not None:
                    placed = ({int(hosts[h]): count for h, count in own.items()} for own in (found.workers, found.ps))
                    yield workers, found.cost, Places(*placed)
                    continue
            if np.isfinite(known[workers]):
                continue
            repaired = self.search.cheapest(machines, workers, ps, np.inf)
            if repaired.status in ("limit", "error"):
                self.failures[f"solver_{repaired.status}"] += 1
            if repaired.workers is not None and repaired.ps is not None:
                yield workers, repaired.cost, Places(repaired.workers, repaired.ps)

    def _scale(self, width: float, cover: int) -> float:
        """Factor of the fractions: the given gain, or that of the theorems."""
        if self.failure_probability is None:
            return self.gain
        if self.gain > 1:
            return gain(self.failure_probability, cover, COVERS, cover=True)
        return gain(self.failure_probability, width, len(self.view.alpha) * self.view.servers + 1, cover=False)
