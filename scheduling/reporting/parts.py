"""Parts of the metrics that only runs of one execution model have. Each model computes its own, in its `metrics.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.model.values import Cluster, Event, Job


@dataclass(frozen=True)
class Played:
    """Result of a run."""

    cluster: Cluster
    jobs: Sequence[Job]
    bars: np.ndarray  # int64 [bar, 9], the columns of Placement
    arrivals: Mapping[int, int]  # ms, by job
    completions: Mapping[int, int]

    @property
    def first_ms(self) -> int:
        """The first arrival."""
        return min(self.arrivals.values(), default=0)

    @property
    def times_ms(self) -> dict[int, int]:
        """JCT of the jobs that completed."""
        return {job: at_ms - self.arrivals[job] for job, at_ms in self.completions.items()}


class Part(ABC):
    """Collector of the metrics of one model, from all events of a run."""

    model: str  # as the log states it
    name: str  # in the metrics of summary.json

    def feed(self, event: Event) -> None:
        """Adds an event."""
        return

    @abstractmethod
    def figures(self, run: Played) -> dict[str, Any] | None:
        """Metrics of this model, or None if the run has no phase of it."""
