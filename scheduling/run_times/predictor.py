"""Base of run-time predictors: the run times of similar jobs that have ended, from the most to the least similar."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar

from scheduling.model.values import Job

Key = tuple[Any, ...]
MAX_KEYS = 100_000  # groups of similar jobs that are remembered


class Predictor:
    """Prediction from the last `depth` jobs of the most similar group that has `least` of them."""

    name: ClassVar[str]
    title: ClassVar[str]  # as printed on screen
    about: ClassVar[str]  # one sentence
    depth: ClassVar[int]
    least: ClassVar[int] = 1

    def __init__(self) -> None:
        self.history: dict[Key, deque[int]] = {}  # group -> run times in ms, the newest last

    def summary(self, run_times: Sequence[int]) -> int:
        """Predicted run time in ms from those of similar jobs, the newest last."""
        raise NotImplementedError

    def observe(self, job: Job, run_ms: int) -> None:
        """A job has ended after running that long."""
        for key in _groups(job):
            times = self.history.pop(key, None) or deque(maxlen=self.depth)
            times.append(run_ms)
            self.history[key] = times  # the newest group is the last
        while len(self.history) > MAX_KEYS:
            del self.history[next(iter(self.history))]

    def predict(self, job: Job) -> int | None:
        """Predicted run time in ms, at most the time limit; None while no similar job has ended."""
        for key in _groups(job):
            times = self.history.get(key, ())
            if len(times) >= self.least:
                found = max(1, self.summary(list(times)))
                return found if job.limit_ms is None else min(found, job.limit_ms)
        return None

    def state(self) -> list[Any]:
        """State for `restore`."""
        return [[list(key), list(times)] for key, times in self.history.items()]

    def restore(self, state: Sequence[Any]) -> None:
        """The inverse of `state`."""
        self.history = {tuple(key): deque(times, self.depth) for key, times in state}


def _groups(job: Job) -> list[Key]:
    """Groups of similar jobs, the most similar first: same user, size and limit; same user; same size; all."""
    size = job.requested_workers or 1
    return [("user-size-limit", job.user or "", size, job.limit_ms or 0), ("user", job.user or ""), ("size", size), ()]
