"""Base of the predictors that learn: the run times of similar jobs that have ended, the most similar ones first."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar

from scheduling.run_times.predictor import Predictor, Similar

Key = tuple[Any, ...]
MAX_KEYS = 100_000  # groups of similar jobs that are remembered


class HistoryPredictor(Predictor):
    """Prediction from the last `depth` jobs of the most similar group that has `least` of them."""

    depth: ClassVar[int]
    least: ClassVar[int] = 1
    learns = True

    def __init__(self) -> None:
        self.history: dict[Key, deque[int]] = {}  # group -> run times in ms, the newest last

    @abstractmethod
    def summary(self, run_times: Sequence[int]) -> int:
        """Predicted run time in ms from those of similar jobs, the newest last."""

    def observe(self, job: Similar, run_ms: int) -> None:
        for key in _groups(job):
            times = self.history.pop(key, None) or deque(maxlen=self.depth)
            times.append(run_ms)
            self.history[key] = times  # the newest group is the last
        while len(self.history) > MAX_KEYS:
            del self.history[next(iter(self.history))]

    def predict(self, job: Similar) -> int | None:
        for key in _groups(job):
            times = self.history.get(key, ())
            if len(times) >= self.least:
                found = max(1, self.summary(list(times)))
                return found if job.limit_ms is None else min(found, job.limit_ms)
        return None

    def state(self) -> list[Any]:
        return [[list(key), list(times)] for key, times in self.history.items()]

    def restore(self, state: Sequence[Any]) -> None:
        self.history = {tuple(key): deque(times, self.depth) for key, times in state}


def _groups(job: Similar) -> list[Key]:
    """Groups of similar jobs, the most similar first: same user, size and limit; same user; same size; all."""
    size = job.requested_workers or 1
    return [("user-size-limit", job.user or "", size, job.limit_ms or 0), ("user", job.user or ""), ("size", size), ()]
