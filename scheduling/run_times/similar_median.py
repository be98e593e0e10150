"""Median of the last ten similar jobs: the smallest error of run times, but half of the jobs run longer."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.run_times.history import HistoryPredictor


class SimilarMedian(HistoryPredictor):
    name = "similar-median"
    title = "Median of similar jobs"
    about = "Median of the last ten similar jobs."
    depth = 10

    def summary(self, run_times: Sequence[int]) -> int:
        ordered, half = sorted(run_times), len(run_times) // 2
        return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) // 2
