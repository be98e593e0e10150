"""Believed run times of the jobs of a run: what a predictor says as jobs of the run end, or what was said before.

A job for which nothing is predicted runs as long as its limit, and one without a limit ASSUMED_MS. A job that runs
longer than believed is expected to run twice as long, up to its limit (overrun.py), and beyond a limit that turns out
not to be one again twice as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling.kernel.beliefs.belief import Beliefs
from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import Job, ModelError
from scheduling.run_times import MENU, predictors
from scheduling.run_times.overrun import expected_run_ms
from scheduling.run_times.predictor import Predictor

ASSUMED_MS = 3_600_000
EXACT = "exact"  # the true work: an ordinary run


class _Beliefs(Beliefs):
    """Base: before the arrival of a job, and once it has run longer than believed."""

    def before(self, job: int, row: Job) -> int:
        return max(1, row.limit_ms or ASSUMED_MS)

    def later(self, job: int, row: Job, believed_ms: int, ran_ms: int) -> int:
        limit_ms = row.limit_ms if row.limit_ms is not None and ran_ms < row.limit_ms else None
        return expected_run_ms(believed_ms, ran_ms, limit_ms)


class Learned(_Beliefs):
    """Beliefs of a predictor when a job arrives, from the jobs of this run that have ended by then."""

    def __init__(self, predictor: str) -> None:
        self.name, self.predictor = predictor, _predictor(predictor)

    def at_submission(self, job: int, row: Job) -> int:
        return self.predictor.predict(row) or self.before(job, row)

    def ended(self, job: int, row: Job, ran_ms: int) -> None:
        self.predictor.observe(row, ran_ms)

    def state(self) -> Any:
        return self.predictor.state()

    def restore(self, state: Any) -> None:
        self.predictor.restore(state)


def _predictor(name: str) -> Predictor:
    try:
        return MENU.named(name, others=(EXACT,))()
    except UnknownName as error:
        raise ModelError(str(error)) from error


class Recorded(_Beliefs):
    """Run times in ms, of each job, as they were believed at its submission."""

    def __init__(self, name: str, believed_ms: Sequence[int]) -> None:
        self.name, self.believed_ms = name, believed_ms

    def ended(self, job: int, row: Job, ran_ms: int) -> None:
        """End of a job; nothing is learned from it."""

    def state(self) -> Any:
        return []

    def restore(self, state: Any) -> None:
        """Restoration without effect: recorded beliefs have no state."""

    def at_submission(self, job: int, row: Job) -> int:
        return max(1, self.believed_ms[job])


def names() -> list[str]:
    """Names of all beliefs: the true run time, and each predictor."""
    return [EXACT, *predictors()]


def beliefs(name: str) -> Beliefs | None:
    """The beliefs of that name; None for the true work. ModelError for a name that cannot be used."""
    if name == EXACT:
        return None
    return Learned(name)
