"""Comparison of runs as plain data: metrics, distributions, differences by job, breakdowns, first divergence.

Everything is read from each run's state and log, the same way for all schedulers. The first run is the baseline of all
others. Runs share jobs by id; unfinished runs are compared up to the time that all have reached.
"""

from twin.analysis.comparison.compared import MAX_IN_FULL, MAX_RUNS, Compared, Side, common_instant, side_of

__all__ = ["MAX_IN_FULL", "MAX_RUNS", "Compared", "Side", "common_instant", "side_of"]
