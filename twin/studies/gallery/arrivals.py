"""Generated jobs with other arrivals, sampled by hour, and with fewer epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scheduling.model.speed import restated
from scheduling.model.values import Job

HOUR_MS = 3_600_000


def by_hours(jobs: Sequence[Job], weights: Sequence[float], seed: int) -> list[Job]:
    """The jobs with arrivals in these hours, in proportion to their weights; ids stay in the order of arrival."""
    rng = np.random.default_rng([seed, 5])
    shares = np.asarray(weights, dtype=float)
    hours = rng.choice(len(shares), size=len(jobs), p=shares / shares.sum())
    times = np.sort(hours * HOUR_MS + rng.integers(0, HOUR_MS, size=len(jobs)))
    return [replace(job, arrival_ms=int(at_ms)) for job, at_ms in zip(jobs, times, strict=True)]


def shortened(jobs: Sequence[Job], times: int) -> list[Job]:
    """The jobs with their epochs divided by a number, at least one each."""
    return [restated(job, epochs=max(1, (job.epochs or 1) // times)) for job in jobs]


def rhythm(hour: int, quiet: float, peak: int) -> float:
    """Weight of an hour of the day: 1 at the peak, `quiet` twelve hours away from it."""
    return float(quiet + (1 - quiet) * (1 + np.cos(2 * np.pi * (hour - peak) / 24)) / 2)
