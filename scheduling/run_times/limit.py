"""The time limit itself: what a scheduler that learns nothing believes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling.run_times.predictor import Predictor, Similar


class Limit(Predictor):
    name = "limit"
    title = "Time limit"
    about = "The time limit that the user stated; none for a job without one."
    learns = False

    def predict(self, job: Similar) -> int | None:
        return None if job.limit_ms is None else max(1, job.limit_ms)

    def observe(self, job: Similar, run_ms: int) -> None:
        return

    def state(self) -> list[Any]:
        return []

    def restore(self, state: Sequence[Any]) -> None:
        return
