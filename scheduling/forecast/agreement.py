"""Agreement of a simulated schedule with what happened to the same jobs: makespan, waits, starts, and their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Agreement(NamedTuple):
    """Agreement over the jobs that completed in both; differences are simulated minus real.

    makespan_error  relative difference of the makespans; None where the real one is 0
    within          share of the starts that differ by at most the tolerance
    order           Kendall's tau of the two orders of starts, 1 for the same; None where one of them has no order
    first           index of the first job whose starts differ by more; None without one
    """

    jobs: int
    makespan_real_ms: int | None = None
    makespan_ms: int | None = None
    makespan_error: float | None = None
    wait_real_ms: float | None = None
    wait_ms: float | None = None
    within: float | None = None
    order: float | None = None
    first: int | None = None


def agreement(
    arrived: np.ndarray, real: tuple[np.ndarray, np.ndarray], simulated: tuple[np.ndarray, np.ndarray], within_ms: int
) -> Agreement:
    """Agreement from [job] arrivals and (starts, ends) in ms, -1 where they did not happen."""
    from scipy import stats  # when it is used: 45 MB of memory, which the processes that import this file do not need

    known = np.flatnonzero((np.minimum(*real) >= 0) & (np.minimum(*simulated) >= 0))
    if not len(known):
        return Agreement(0)
    arrived = arrived[known]
    (start, end), (began, ended) = ((first[known], last[known]) for first, last in (real, simulated))
    makespan_real, makespan = int(end.max() - arrived.min()), int(ended.max() - arrived.min())
    apart = np.abs(began - start) > within_ms
    earlier = np.where(apart, np.minimum(began, start), np.iinfo(np.int64).max)
    tau = float(stats.kendalltau(start, began).statistic) if len(known) > 1 else float("nan")
    return Agreement(
        len(known), makespan_real, makespan, (makespan - makespan_real) / makespan_real if makespan_real else None,
        float((start - arrived).mean()), float((began - arrived).mean()), float(1 - apart.mean()),
        None if np.isnan(tau) else tau, int(known[earlier.argmin()]) if apart.any() else None,
    )  # fmt: skip
