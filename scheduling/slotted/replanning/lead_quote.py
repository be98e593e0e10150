"""Quote of OASiS with a discount for near slots.

A slot that is about to begin is lost if nobody uses it, and few jobs that could use it can still arrive. Its price is
that of OASiS times min(1, (k + 1) / lead), for the slot k slots ahead of now.
"""

from __future__ import annotations

import numpy as np

from scheduling.model.values import Demand, Job
from scheduling.slotted.oasis.quote import Quote
from scheduling.slotted.pricing.prices import PriceBook
from scheduling.slotted.solvers.window import Best, best_completion


class LeadQuote(Quote):
    """Quote of one job from slot `first`, which begins now, to `end`; prices rise over `lead` slots."""

    def __init__(
        self, job: Job, need: int, most: int, first: int, end: int, books: tuple[PriceBook, PriceBook], training: str,
        late: int, lead: int,
    ) -> None:  # fmt: skip
        super().__init__(job, need, most, first, end, books, training, late)
        self.lead = lead
        self.full_unit = self.least_unit / self.lot  # least cost of one worker at full price
        self.least_unit /= lead

    def _unit_cost(self, book: PriceBook, demand: Demand, slots: slice | np.ndarray) -> np.ndarray:
        ahead = (np.arange(slots.start, slots.stop) if isinstance(slots, slice) else slots) - self.first
        cost = book.unit_cost(demand, slots) * np.minimum(1.0, (ahead + 1) / self.lead)[:, None]
        return np.rint(cost / self.grid) * self.grid

    def at_any_cost(self) -> Best | None:
        """Completion with the highest payoff, positive or not; None if the work does not fit."""
        return best_completion(self.need, self.utility + self._dearest(), self.curves, self.least_unit)

    def bound(self) -> float:
        """Bound on the payoff of this and of every later quote, at the price bounds of now: that on an empty cluster.

        There the near slots are the cheapest, and utility falls.
        """
        slots = -(-self.worker_slots // self.most)
        if slots > len(self.utility):
            return -np.inf
        workers = np.full(slots, self.most)
        workers[-1] = self.worker_slots - self.most * (slots - 1)
        cost = self.full_unit * float((workers * np.minimum(1.0, np.arange(1, slots + 1) / self.lead)).sum())
        return float(self.utility[slots - 1]) - cost

    def density(self) -> float:
        """Best utility by the least cost of the work at full prices."""
        slots = -(-self.worker_slots // self.most)
        return float(self.utility[slots - 1]) / max(self.worker_slots * self.full_unit, self.grid)

    def _dearest(self) -> float:
        """A cost that no schedule exceeds: every unit at the ceilings, as many parameter servers as workers."""
        unit = sum(
            sum(amount * most for amount, most in zip(demand, book.ceiling, strict=True)) / 1000
            for demand, book in zip(self.demands, self.books, strict=True)
        )
        return unit * self.worker_slots * max(1, int(self.ps[-1]))
