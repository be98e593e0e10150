"""Quote of one job on the current cluster, with its best schedule [OASiS, Algorithm 2]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.model.decision import Reason
from scheduling.model.training_models import oasis_ps, pd_ors_ps
from scheduling.model.utility import utility_at, utility_over
from scheduling.model.values import BANDWIDTH, Demand, Job
from scheduling.slotted.pricing.prices import PriceBook, grid_of
from scheduling.slotted.solvers.slot_cost import fill, marginal_costs, prefix, relaxed_marginals
from scheduling.slotted.solvers.window import Best, best_completion

MAX_UNITS = 100_000  # workers of one job in one slot
MAX_CURVE = 16_000_000  # slots of the window x workers: 128 MB for each of some arrays
MAX_KEPT = 1_000_000  # the same, of curves for all slots at once
CELLS = 4_000_000  # worker-slots x workers that are planned worker by worker


class Units(NamedTuple):
    """Positions of the units of one role: parallel arrays, one row per (slot, server)."""

    slots: np.ndarray
    servers: np.ndarray  # position within the role's book
    counts: np.ndarray
    cost: np.ndarray  # of one unit there


class Quote:
    """Costs of one job: cost curves over its window, in lots of workers (one worker, unless the job is huge)."""

    def __init__(
        self, job: Job, need: int, most: int, first: int, horizon: int, books: tuple[PriceBook, PriceBook],
        training: str = "oasis", late: int = 0,
    ) -> None:  # fmt: skip
        """need: worker-slots, at most `most` per slot. training: the training model, for parameter servers.

        late: slots since the job arrived, when it is offered again.
        """
        assert job.worker is not None
        assert job.ps is not None
        assert job.utility is not None
        self.job, self.first, self.horizon, self.books = job, first, horizon, books
        self.demands: tuple[Demand, Demand] = (job.worker, job.ps)
        self.worker_slots, self.most = need, most
        self.lot = 1
        while self.lot < most and -(-need // self.lot) * (most // self.lot) > CELLS:
            self.lot += 1
        self.need = -(-need // self.lot)
        if training == "oasis":
            self.ps = np.array([oasis_ps(job, y) for y in range(self.most + 1)])  # parameter servers of y workers
            self.ratio = job.worker[BANDWIDTH] / job.ps[BANDWIDTH] if job.ps[BANDWIDTH] else 0.0
        else:
            self.ps = np.array([pd_ors_ps(job, y) for y in range(self.most + 1)])
            self.ratio = 1 / (job.workers_per_ps or 1)
        self.utility = utility_over(job.utility, np.arange(late, late + horizon - first))
        self.grid = grid_of(utility_at(job.utility, 0))
        worker, ps = (
            np.rint(b.least_cost(d) / self.grid) * self.grid for b, d in zip(books, self.demands, strict=True)
        )
        self.least_unit = float(worker + self.ratio * ps) * self.lot
        self.known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def put_off(self, slot: int) -> bool:
        """Shift of the quote to an arrival in a later slot.

        False if more workers might be tried then or curves are large.
        """
        window = self.horizon - self.first
        if self.most >= MAX_CURVE // window or window * self.most > MAX_KEPT:
            return False
        if (self.first, self.horizon) not in self.known:
            self.curves(0, window)
        cost, relaxed = self.known[self.first, self.horizon]
        skipped = slot - self.first
        self.first, self.utility = slot, self.utility[: window - skipped]
        self.known = {(slot, self.horizon): (cost[skipped:], relaxed[skipped:])}
        return True

    def curves(self, first: int, past: int) -> tuple[np.ndarray, np.ndarray]:
        """Cost of 0, 1, ... lots of workers with their parameter servers in slots first..past of the window."""
        wanted = self.first + first, self.first + past
        if wanted in self.known:
            return self.known[wanted]
        whole = self.known.get((self.first, self.horizon))
        if whole is not None:
            return whole[0][first:past], whole[1][first:past]
        window = slice(*wanted)
        worker, ps = (
            marginal_costs(self._unit_cost(book, demand, window), book.room(demand, window, most), most)
            for book, demand, most in zip(self.books, self.demands, (self.most, int(self.ps[-1])), strict=True)
        )
        cost = prefix(worker) + prefix(ps)[:, self.ps]
        relaxed = relaxed_marginals(worker, ps, self.ratio)
        if self.lot > 1:
            cost = cost[:, :: self.lot]
            lots = cost.shape[1] - 1
            relaxed = relaxed[:, : lots * self.lot].reshape(len(relaxed), lots, self.lot).sum(axis=2)
        self.known[wanted] = cost, relaxed
        return cost, relaxed

    def best(self) -> Best | None:
        """Completion with the highest payoff; None if no payoff is positive."""
        return best_completion(self.need, self.utility, self.curves, self.least_unit)

    def paying(self) -> Best | None:
        """A completion with a positive payoff, if there is one."""
        return best_completion(self.need, self.utility, self.curves, self.least_unit, soon=True)

    def place(self, best: Best) -> tuple[Units, Units]:
        """The servers of the chosen schedule, cheapest first in every slot."""
        used = np.flatnonzero(best.workers)
        slots = used + self.first
        workers = best.workers[used] * self.lot
        placed = []
        for book, demand, counts in zip(self.books, self.demands, (workers, self.ps[workers]), strict=True):
            unit = self._unit_cost(book, demand, slots)
            rows, servers, taken = fill(unit, book.room(demand, slots, int(counts.max())), counts)
            placed.append(Units(slots[rows], servers, taken, unit[rows, servers]))
        return placed[0], placed[1]

    def _unit_cost(self, book: PriceBook, demand: Demand, slots: slice | np.ndarray) -> np.ndarray:
        return np.rint(book.unit_cost(demand, slots) / self.grid) * self.grid

    def no_capacity(self) -> Reason:
        """Role without capacity: the workers, if there is no room for the work even without parameter servers."""
        window = slice(self.first, self.horizon)
        room = self.books[0].room(self.demands[0], window, self.most).sum(axis=1)
        free = int(np.minimum(room, self.most).sum())
        role = "worker" if free < self.worker_slots else "ps"
        return no_capacity(role, self.worker_slots, self.horizon - self.first)


def most_at_once(job: Job, need: int, slots: int, book: PriceBook, limit: int | None = None) -> int:
    """Workers that the job can have in one slot of its window; limit: instead of its chunks."""
    assert job.worker is not None
    assert job.num_chunks is not None
    return int(min(limit or job.num_chunks, need, book.empty_room(job.worker), MAX_UNITS, max(1, MAX_CURVE // slots)))


def no_capacity(role: str, need: int, slots: int) -> Reason:
    """Reason: `need` worker-slots do not fit into the remaining slots."""
    return Reason("no_capacity", {"role": role, "need_worker_slots": need, "left_slots": slots})
