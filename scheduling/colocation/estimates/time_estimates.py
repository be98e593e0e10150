"""Estimated times of jobs: exact, with a given error, or measured and learned [Harmony, Section IV-B1].

A measurement is the mean of PROFILED_ITERATIONS noisy iterations; from then on each whole iteration that the job makes
enters a moving average. All other properties of a job are exact; the number of iterations that it needs does not enter
a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scheduling.colocation.job_mapping import Facts

PROFILED_ITERATIONS = 3
NOISE = 0.02  # of the logarithm of one iteration's times
KEEP = 0.7  # of the moving average, at each iteration
REMEMBERED = 64  # iterations; what lies before counts for less than 1e-9


class Belief(NamedTuple):
    """Estimate: machine-ms and ms of one iteration, and the number of iterations that it is based on."""

    comp: float
    comm: float
    seen: int


class Beliefs:
    """Estimated times of the jobs whose estimate differs.

    error: the largest relative error of a profile; opposed: of opposite signs.
    """

    def __init__(self, facts: Callable[[int], Facts], rng: np.random.Generator, error: float, opposed: bool) -> None:
        self.facts, self.rng, self.error, self.opposed = facts, rng, error, opposed
        self.of: dict[int, Belief] = {}

    def guess(self, job: int) -> Facts:
        """Properties of the job with the estimated times."""
        known, belief = self.facts(job), self.of.get(job)
        return known if belief is None else known._replace(comp=belief.comp, comm=belief.comm)

    def reveal(self, job: int) -> None:
        """Estimate of a job whose times are given; they may be wrong."""
        if self.error:
            comp, comm = self._wrong(job)
            self.of[job] = Belief(comp, comm, 0)

    def measured(self, job: int) -> None:
        """Estimate of a job that was profiled."""
        comp, comm = self._wrong(job) if self.error else (self.facts(job).comp, self.facts(job).comm)
        factors = np.exp(self.rng.normal(0.0, NOISE, size=(2, PROFILED_ITERATIONS))).mean(axis=1).tolist()
        self.of[job] = Belief(comp * factors[0], comm * factors[1], PROFILED_ITERATIONS)

    def learn(self, job: int, done: float) -> None:
        """Update of the estimate of a measured job after a number of iterations; new complete ones count one by one."""
        belief = self.of.get(job)
        if belief is None or int(done) <= belief.seen:
            return
        count = min(int(done) - belief.seen, REMEMBERED)
        weights = (1 - KEEP) * KEEP ** np.arange(count - 1, -1, -1)
        samples = np.exp(self.rng.normal(0.0, NOISE, size=(2, count))) @ weights
        known, kept = self.facts(job), KEEP**count
        comp = kept * belief.comp + known.comp * float(samples[0])
        self.of[job] = Belief(comp, kept * belief.comm + known.comm * float(samples[1]), int(done))

    def state(self) -> np.ndarray:
        """[row, 4]: job, comp, comm, seen."""
        return np.array([[job, *belief] for job, belief in self.of.items()], dtype=np.float64).reshape(-1, 4)

    def restore(self, state: Any) -> None:
        """The inverse of `state`."""
        self.of = {int(job): Belief(comp, comm, int(seen)) for job, comp, comm, seen in state.tolist()}

    def _wrong(self, job: int) -> tuple[float, float]:
        known, one = self.facts(job), self.rng.uniform(-self.error, self.error, size=2).tolist()
        return known.comp * (1 + one[0]), known.comm * (1 - one[0] if self.opposed else 1 + one[1])
