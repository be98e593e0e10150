"""Parts of the metrics that only runs of one execution model have. Each model computes its own, in its `metrics.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from scheduling.model.values import Cluster, Event, Job, Server

Stretch = tuple[int, int, Cluster]  # from and until in ms, and the cluster then


@dataclass(frozen=True)
class Played:
    """Result of a run."""

    clusters: Sequence[tuple[int, Cluster]]  # (start in ms, cluster) of each phase, in order
    jobs: Sequence[Job]
    bars: np.ndarray  # int64 [bar, 9], the columns of Placement
    arrivals: Mapping[int, int]  # ms, by job
    completions: Mapping[int, int]
    turns: Sequence[tuple[int, str | None]] = ()  # (start in ms, execution model) of each phase; None in older logs

    @property
    def cluster(self) -> Cluster:
        """The cluster of the last phase, with all servers of the log."""
        return self.clusters[-1][1]

    @property
    def first_ms(self) -> int:
        """The first arrival."""
        return min(self.arrivals.values(), default=0)

    @property
    def times_ms(self) -> dict[int, int]:
        """JCT of the jobs that completed."""
        return {job: at_ms - self.arrivals[job] for job, at_ms in self.completions.items()}

    def only(self, model: str) -> bool:
        """True if no phase is of another execution model."""
        return all(own in (None, model) for _, own in self.turns)

    def stretches(self, model: str, last_ms: int) -> list[Stretch]:
        """Time of an execution model from the first arrival to last_ms, in pieces with one cluster each."""
        changes = {ms for ms, _ in (*self.turns, *self.clusters) if self.first_ms < ms < last_ms}
        return [
            (begin, end, _at(self.clusters, begin))
            for begin, end in pairwise([*sorted({self.first_ms, *changes}), last_ms])
            if begin < end and (not self.turns or _at(self.turns, begin) in (None, model))
        ]


class Part(ABC):
    """Collector of the metrics of one model, from all events of a run."""

    model: str  # as the log states it
    name: str  # in the metrics of summary.json

    def feed(self, event: Event) -> None:
        """Addition of an event."""
        return

    @abstractmethod
    def metrics(self, run: Played) -> dict[str, Any] | None:
        """Metrics of this model, or None if the run has no phase of it."""


def present_ms(server: Server, begin: int, end: int) -> int:
    """Time between two moments in which the server is available."""
    return end - begin - sum(max(0, min(back, end) - max(left, begin)) for left, back in server.away)


def _at(phases: Sequence[tuple[int, Any]], at_ms: int) -> Any:
    """The value of the phase at a moment."""
    return next((value for begin, value in reversed(phases) if begin <= at_ms), phases[0][1])
