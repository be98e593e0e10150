"""Jobs that have waited for too long."""

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

    hours: float = parameter(24.0, "Maximum wait", low=0.01, high=10_000.0, unit="h")


class WaitingLong(Rule):
    """Rule about waits; at most one finding, which names the job that has waited for the longest time."""

    name = "waiting_long"
    title = "Long wait"
    summary = "A job has waited for longer than the given time, by the clock of the run."
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.situation is None:
            return ()
        most_ms = round(self.parameters.hours * HOUR_MS)
        since = seen.situation.facts.waiting_since
        jobs = int(np.searchsorted(since, seen.now_ms - most_ms, side="left"))
        if not jobs:
            return ()
        first = seen.situation.shown["queue"]["oldest"][0]
        values = {"jobs": jobs, "job": first["job"], "id": first["id"], "since_ms": first["since_ms"]}
        return [Finding(self.name, values | {"most_ms": most_ms})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        jobs, most = values["jobs"], duration(values["most_ms"])
        first = f"{values['id']}, submitted at {since(values)}"
        return (
            f"A job has waited for more than {most}: {first}"
            if jobs == 1
            else f"{jobs:,} jobs have waited for more than {most}; the first is {first}"
        )
