"""Several runs side by side, as plain data: figures, distributions, differences by job, groups, first divergence.

Everything is read from each run's state and log, the same way for all schedulers. The first run is the base: every
other one is told against it. Runs share jobs by id; runs that are still going are compared up to the instant that all
have reached.
"""

from twin.analysis.comparison.compared import MAX_DRAWN, MAX_RUNS, Compared, Side, common_instant, side_of

__all__ = ["MAX_DRAWN", "MAX_RUNS", "Compared", "Side", "common_instant", "side_of"]
