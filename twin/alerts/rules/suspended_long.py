"""Jobs that have been suspended for too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.reporting.quantities import duration
from twin.alerts.base import Finding, Rule, Seen, since

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    hours: float = parameter(4.0, "Maximum suspension", low=0.01, high=10_000.0, unit="h")


class SuspendedLong(Rule):
    """Rule about suspensions; at most one finding, which names the job that has been suspended for the longest time."""

    name = "suspended_long"
    title = "Long suspension"
    summary = "A job that has started has been suspended for longer than the given time, by the clock of the run."
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.situation is None:
            return ()
        most_ms = round(self.parameters.hours * HOUR_MS)
        since_ms, indexes = seen.situation.facts.suspended.T
        jobs = int(np.searchsorted(since_ms, seen.now_ms - most_ms, side="left"))
        if not jobs:
            return ()
        values = {"jobs": jobs, "job": int(indexes[0]), "id": seen.situation.facts.suspended_id}
        return [Finding(self.name, values | {"since_ms": int(since_ms[0]), "most_ms": most_ms})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        jobs, most = values["jobs"], duration(values["most_ms"])
        first = f"{values['id']}, since {since(values)}"
        return (
            f"A job has been suspended for more than {most}: {first}"
            if jobs == 1
            else f"{jobs:,} jobs have been suspended for more than {most}; the first is {first}"
        )
