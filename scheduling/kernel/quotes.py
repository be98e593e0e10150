"""Quotes of schedulers that decide by payoff: the answer to a hypothetical job, and its time limit."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from scheduling.model.decision import Reason

ADMITTED = "payoff_positive"


class OutOfTime(RuntimeError):
    """Error: the answer takes longer than its time limit."""


class Deadline:
    """Time limit of an answer; none unless it is set."""

    def __init__(self) -> None:
        self.until = math.inf  # of time.perf_counter

    def set(self, until: float) -> None:
        """Time limit from now on, as a value of time.perf_counter."""
        self.until = until

    def left(self) -> float:
        """Remaining seconds, more than 0; OutOfTime if there are none."""
        left = self.until - time.perf_counter()
        if left <= 0:
            raise OutOfTime
        return left


@dataclass(frozen=True, slots=True)
class PriceQuote:
    """Quote of a job: whether it is admitted, and the cost and end of a schedule, not always the best one."""

    admitted: bool
    cost: float = math.inf
    finish_slot: int = -1

    @classmethod
    def of(cls, reason: Reason) -> PriceQuote:
        """Quote of a decision with this reason."""
        return cls(reason.code == ADMITTED, reason.values.get("cost", math.inf), reason.values.get("finish_slot", -1))
