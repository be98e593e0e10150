"""Tournament of the run-time predictors: each predicts every job when it is submitted, and is scored when it ends.

The errors of predicted run times do not show how good the forecasts of starts are that use them: a gang waits for the
last job to end, so a predictor that is often too short is worse than its errors suggest (docs/decisions/0018). The best
predictor is therefore the one with the least mean error of the starts that were forecast with it, over the last days.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.run_times import predictors
from scheduling.run_times.predictor import Similar

DEFAULT = "similar-p90"  # until enough starts have been scored
WINDOW_MS = 7 * 86_400_000
MAX_SCORES = 20_000  # of each predictor, in the window
MIN_STARTS = 30  # scored starts of a predictor without which it cannot be the best


class Score(NamedTuple):
    """A job that has ended: when, how long it ran, and the prediction of each predictor, -1 for none."""

    at_ms: int
    run_ms: int
    predicted_ms: tuple[int, ...]  # in the order of `Tournament.names`


class Accuracy(NamedTuple):
    """Accuracy of one predictor.

    accuracy: mean of min / max of prediction and run time.
    underestimated: share of the jobs that ran longer than predicted.
    """

    name: str
    jobs: int
    accuracy: float | None
    mean_error_ms: float | None
    median_error_ms: float | None
    underestimated: float | None


class Tournament:
    """All predictors, their predictions for the open jobs, and their scores of the last days."""

    def __init__(self) -> None:
        self.predictors = {name: cls() for name, cls in predictors().items()}
        self.names = tuple(self.predictors)
        self.predictions: dict[str, tuple[int, ...]] = {}  # open job -> predictions at its submission
        self.scores: deque[Score] = deque(maxlen=MAX_SCORES)

    def submitted(self, job_id: str, job: Similar) -> None:
        """Submission of a job, which every predictor predicts."""
        if job_id not in self.predictions:
            self.predictions[job_id] = tuple(-1 if p is None else p for p in self.predict_all(job).values())

    def ended(self, job_id: str, job: Similar, run_ms: int, at_ms: int) -> None:
        """End of a job that ran that long. Predictors learn from it; it is scored if it was submitted here."""
        predicted = self.predictions.pop(job_id, None)
        if predicted is not None:
            self.scores.append(Score(at_ms, run_ms, predicted))
        for predictor in self.predictors.values():
            predictor.observe(job, run_ms)

    def withdrawn(self, job_id: str) -> None:
        """End of a job that never ran."""
        self.predictions.pop(job_id, None)

    def predict_all(self, job: Similar) -> dict[str, int | None]:
        """The run time in ms by each predictor; None where it has no estimate."""
        return {name: predictor.predict(job) for name, predictor in self.predictors.items()}

    def accuracies(self, now_ms: int) -> list[Accuracy]:
        """Accuracy of each predictor over the window."""
        rows = [score for score in self.scores if score.at_ms > now_ms - WINDOW_MS]
        real = np.maximum(1.0, np.array([row.run_ms for row in rows], dtype=float))
        predicted = np.array([row.predicted_ms for row in rows], dtype=float).reshape(-1, len(self.names))
        return [_accuracy(name, predicted[:, place], real) for place, name in enumerate(self.names)]

    def state(self) -> dict[str, Any]:
        """State for `restore`."""
        return {
            "names": list(self.names),
            "history": {name: predictor.state() for name, predictor in self.predictors.items()},
            # "said" is the name that stored states have
            "said": {job: list(predicted) for job, predicted in self.predictions.items()},
            "scores": [[score.at_ms, score.run_ms, *score.predicted_ms] for score in self.scores],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`; scores of another set of predictors are dropped, what they learned is kept."""
        for name, history in state["history"].items():
            if name in self.predictors:
                self.predictors[name].restore(history)
        if tuple(state["names"]) == self.names:
            self.predictions = {job: tuple(predicted) for job, predicted in state["said"].items()}
            self.scores.extend(Score(at, run, tuple(predicted)) for at, run, *predicted in state["scores"])


def usable(name: str = DEFAULT) -> str:
    """The predictor of that name; if it is not available, DEFAULT, or else the first that is."""
    return next((one for one in (name, DEFAULT, *predictors()) if one in predictors()), name)


def best(starts: Mapping[str, tuple[int, float]]) -> str:
    """The predictor with the least mean error of the starts forecast with it; starts: {name: (number, mean error)}.

    The default until two of them have MIN_STARTS starts; the first by name where errors are equal.
    """
    known = {name: error for name, (number, error) in starts.items() if number >= MIN_STARTS}
    return min(sorted(known), key=lambda name: known[name]) if len(known) > 1 else usable()


def _accuracy(name: str, predicted: np.ndarray, real: np.ndarray) -> Accuracy:
    known = predicted > 0
    if not known.any():
        return Accuracy(name, 0, None, None, None, None)
    predicted, real = predicted[known], real[known]
    errors = np.abs(predicted - real)
    ratio = np.minimum(predicted, real) / np.maximum(predicted, real)
    return Accuracy(
        name,
        len(predicted),
        float(ratio.mean()),
        float(errors.mean()),
        float(np.median(errors)),
        float((predicted < real).mean()),
    )


def similar(user: str, size: int, limit_ms: int | None) -> Similar:
    """A job of a real cluster as the predictors compare it."""
    return _Similar(user, size, limit_ms)


class _Similar(NamedTuple):
    user: str | None
    requested_workers: int | None
    limit_ms: int | None


__all__: Sequence[str] = ["DEFAULT", "WINDOW_MS", "Accuracy", "Score", "Tournament", "best", "similar", "usable"]
