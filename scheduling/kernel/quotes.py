"""Quotes of schedulers that decide by payoff: what they would say to a job, and how long they may take to say it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from scheduling.model.values import Reason

ADMITTED = "payoff_positive"


class OutOfTime(RuntimeError):
    """The answer would take longer than its time."""


class Deadline:
    """The moment until which an answer may take; never, unless it is set."""

    def __init__(self) -> None:
        self.until = math.inf  # of time.perf_counter

    def set(self, until: float) -> None:
        """The answer must come by this moment of time.perf_counter."""
        self.until = until

    def left(self) -> float:
        """Seconds, more than 0; OutOfTime when there are none."""
        left = self.until - time.perf_counter()
        if left <= 0:
            raise OutOfTime
        return left


@dataclass(frozen=True, slots=True)
class PriceQuote:
    """Test whether a job is admitted, and the cost and end of a schedule that shows it: not always the best one."""

    admitted: bool
    cost: float = math.inf
    finish_slot: int = -1

    @classmethod
    def of(cls, said: Reason) -> PriceQuote:
        """The quote that a decision was."""
        return cls(said.code == ADMITTED, said.values.get("cost", math.inf), said.values.get("finish_slot", -1))
