"""The two things that a run on beliefs needs besides its jobs: the believed run times, and the pace of true work.

A run time is that of a job with the workers that it requests, at the slower rate where the place decides the rate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from scheduling.model.bars import Placement, Role
from scheduling.model.limits import MAX_INT, MIN_REAL
from scheduling.model.training_models import EPSILON
from scheduling.model.values import Job

_WORKER, _TRANSFER = int(Role.WORKER), int(Role.TRANSFER)
_PACED = ("minibatch_ms", "sample_ms", "gradient_mb", "ps_update_ms")  # fields whose product is the time of the work
_POSITIVE = ("minibatch_ms", "sample_ms")


class Beliefs(ABC):
    """Believed run times in ms, at least 1. They may follow from what has ended by now, never from what is to come."""

    name: str  # as the log states it

    @abstractmethod
    def before(self, job: int, row: Job) -> int:
        """Run time that is assumed of a job that has not arrived."""

    @abstractmethod
    def at_submission(self, job: int, row: Job) -> int:
        """Believed run time of a job that arrives now."""

    @abstractmethod
    def later(self, job: int, row: Job, believed_ms: int, ran_ms: int) -> int:
        """Believed run time of a job that has run for ran_ms, longer than believed so far; more than ran_ms."""

    @abstractmethod
    def ended(self, job: int, row: Job, ran_ms: int) -> None:
        """Hook for a job that completes now."""

    @abstractmethod
    def state(self) -> Any:
        """State for `restore`, as plain data."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """The inverse of `state`."""


class Pace(ABC):
    """True work of the jobs of an execution model, in worker-ms at the slower rate, and its speed under bars."""

    step_ms: int  # work ends at whole steps

    @abstractmethod
    def total(self, row: Job) -> float:
        """Work of the job as its schedulers round it; 0 where it is unknown."""

    @abstractmethod
    def exact(self, row: Job) -> float:
        """The same without rounding."""

    @abstractmethod
    def workers(self, row: Job) -> int:
        """Workers that the job requests."""

    def speed(self, row: Job, one_server: bool) -> float:
        """Speed of a worker beside the slower rate. one_server: the whole gang is on one server."""
        return 1.0

    def alone_ms(self, row: Job) -> float:
        """Run time with the requested workers; 0 where the work is unknown."""
        return self.exact(row) / self.workers(row)

    def rates(self, row: Job, bars: Sequence[Placement], until_ms: int = MAX_INT) -> list[tuple[int, int, float]]:
        """(start, end, work per ms) of each stretch of the plan up to until_ms, in order."""
        own = [bar for bar in bars if bar.role != _TRANSFER and bar.start_ms < until_ms]
        edges = sorted({min(ms, until_ms) for bar in own for ms in (bar.start_ms, bar.end_ms)})
        found = []
        for begin, end in pairwise(edges):
            standing = own if len(edges) == 2 else [bar for bar in own if bar.start_ms <= begin < bar.end_ms]
            workers = sum(bar.count for bar in standing if bar.role == _WORKER)
            if workers:
                found.append((begin, end, workers * self.speed(row, len({bar.server for bar in standing}) == 1)))
        return found

    def end_ms(self, row: Job, done: float, bars: Sequence[Placement]) -> int | None:
        """Time at which the work ends under this plan with `done` of it before; None if the plan ends earlier."""
        left = self.total(row) - done
        for begin, end, rate in self.rates(row, bars):
            steps = max(0, math.ceil(left / (rate * self.step_ms) - EPSILON))
            if begin + steps * self.step_ms <= end:
                return begin + steps * self.step_ms
            left -= rate * (end - begin)
        return None


def scaled(row: Job, share: float, work: float) -> Job:
    """The job with its work times `share`, in every model: its times of a mini-batch and of a sample change.

    work: that of the job in worker-ms; a share that makes it too large for a job is cut. Counts stay as they are, so
    that nothing is rounded.
    """
    if share == 1:
        return row
    share = min(share, MAX_INT / 4 / max(1.0, work))
    changed: Mapping[str, Any] = {
        name: max(MIN_REAL if name in _POSITIVE else 0.0, value * share)
        for name in _PACED
        if (value := getattr(row, name)) is not None
    }
    return replace(row, **changed)
