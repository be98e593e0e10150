"""90th percentile of the last twenty similar jobs: for starts of gangs, which wait for the last job to end."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.run_times.history import HistoryPredictor


class SimilarP90(HistoryPredictor):
    name = "similar-p90"
    title = "90th percentile of similar jobs"
    about = "90th percentile of the last twenty similar jobs: nine in ten took no longer."
    depth = 20

    def summary(self, run_times: Sequence[int]) -> int:
        return sorted(run_times)[-(-9 * len(run_times) // 10) - 1]
