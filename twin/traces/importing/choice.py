"""Selection of jobs to import, and scaling of their arrival rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from twin.traces.importing.drafts import ImportRefused

MAX_INT = 2**53  # what every reader of our files can count to
MAX_RATE = 1e6


@dataclass(frozen=True)
class Choice:
    """Selection of jobs, applied in this order: groups, window, sample, limit, rate.

    groups    queues (virtual clusters, partitions) whose jobs are taken; none = all
    from_ms, to_ms  window of arrivals, counted from the first job of the trace; it becomes the new time 0
    sample    this many jobs, chosen at random
    limit     the first jobs by arrival
    rate      factor of the arrival rate
    """

    groups: tuple[str, ...] = ()
    from_ms: int | None = None
    to_ms: int | None = None
    sample: int | None = None
    limit: int | None = None
    rate: float = 1.0

    def __post_init__(self) -> None:
        for name, value, least in (
            ("from_ms", self.from_ms, 0), ("to_ms", self.to_ms, 1), ("sample", self.sample, 1),
            ("limit", self.limit, 1),
        ):  # fmt: skip
            if value is not None and not least <= value <= MAX_INT:
                raise ImportRefused(f"{name} must be from {least:,} to {MAX_INT:,}, got {value:,}")
        if self.to_ms is not None and self.to_ms <= (self.from_ms or 0):
            raise ImportRefused(f"the window must end after its start, got {self.from_ms or 0:,} to {self.to_ms:,} ms")
        if not 1 / MAX_RATE <= self.rate <= MAX_RATE:
            raise ImportRefused(f"rate must be from {1 / MAX_RATE:g} to {MAX_RATE:g}, got {self.rate:g}")

    @classmethod
    def of(cls, options: dict[str, Any]) -> Choice:
        """Selection from stored options; other options are ignored."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in options.items() if name in known and value is not None}
        return cls(**{**given, "groups": tuple(given.get("groups", ()))})

    def rows(
        self, arrival_ms: np.ndarray, groups: np.ndarray | None, draws: Callable[[], np.ndarray]
    ) -> np.ndarray | slice:
        """The rows chosen, in order. draws: a number for each job, sampled by its id; the sample has the least."""
        if self == Choice(rate=self.rate):
            return slice(None)
        chosen = np.ones(len(arrival_ms), dtype=bool)
        if self.groups:
            if groups is None:
                raise ImportRefused("the trace names no queues (virtual clusters, partitions)")
            chosen &= np.isin(groups.astype(str), self.groups)
        chosen &= arrival_ms >= (self.from_ms or 0)
        if self.to_ms is not None:
            chosen &= arrival_ms < self.to_ms
        rows = np.flatnonzero(chosen)
        if self.sample is not None and self.sample < len(rows):
            rows = np.sort(rows[np.argsort(draws()[rows], kind="stable")[: self.sample]])
        return rows[: self.limit]

    def arrivals(self, arrival_ms: np.ndarray) -> np.ndarray:
        """Arrivals of the chosen jobs on the scenario's clock."""
        moved = arrival_ms - (self.from_ms or 0)
        return moved if self.rate == 1.0 else np.floor(moved / self.rate).astype(np.int64)
