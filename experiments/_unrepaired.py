"""PD-ORS without the repair of our implementation: a number of workers without a feasible rounding has no placement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scheduling.algorithms.pd_ors import PdOrs
from scheduling.slotted.pd_ors.lp_rounding import Rounding
from scheduling.slotted.pd_ors.multi_machine import Places
from scheduling.slotted.pd_ors.quote import Quote


class UnrepairedRounding(Rounding):
    """Placements by rounding alone, as Algorithm 4 of the paper."""

    def placements(self, kind: int, wanted: list[int], known: np.ndarray) -> Iterator[tuple[int, float, Places | None]]:
        """Placements of the base class without its repair: infinite cost where no rounding is feasible."""
        found = set()
        for workers, cost, places in super().placements(kind, wanted, np.zeros_like(known)):  # 0: nothing is searched
            found.add(workers)
            yield workers, cost, places
        for workers in wanted:
            if workers not in found:
                yield workers, np.inf, None


class Unrepaired(PdOrs):
    """PD-ORS with such roundings."""

    def _inspect(self, *given: Any) -> Any:
        quote = super()._inspect(*given)
        if isinstance(quote, Quote) and quote.rounding is not None:
            quote.rounding = UnrepairedRounding(quote.view, quote.search, quote.rounding.seed, quote.failures)
        return quote
