"""What one asks of a scheduler that decides by payoff, on a state that the answer leaves alone."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from scheduling.model import Reason

ADMITTED = "payoff_positive"


class OutOfTime(RuntimeError):
    """The answer would take longer than its time."""


class Patience:
    """How long an answer may take; without end unless `last` is told."""

    def __init__(self) -> None:
        self.until = math.inf  # of time.perf_counter

    def last(self, until: float) -> None:
        """No answer takes longer than to this moment of time.perf_counter."""
        self.until = until

    def left(self) -> float:
        """Seconds, more than 0; OutOfTime when there are none."""
        left = self.until - time.perf_counter()
        if left <= 0:
            raise OutOfTime
        return left


@dataclass(frozen=True, slots=True)
class Offer:
    """Whether a job is admitted, and what a schedule costs that shows it: not always the best one."""

    admitted: bool
    cost: float = math.inf
    finish_slot: int = -1

    @classmethod
    def of(cls, said: Reason) -> Offer:
        """What a decision told."""
        return cls(said.code == ADMITTED, said.values.get("cost", math.inf), said.values.get("finish_slot", -1))
