"""Mean of the last two similar jobs (Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007)."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.run_times.history import HistoryPredictor


class LastTwo(HistoryPredictor):
    name = "last-two"
    title = "Mean of the last two similar jobs"
    about = "Mean of the last two similar jobs."
    depth = 2

    def summary(self, run_times: Sequence[int]) -> int:
        return sum(run_times) // len(run_times)
