"""A number of waiting jobs that has grown over the later half of the window, and is at its maximum."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.reporting.quantities import duration
from twin.alerts.base import Finding, Rule, Seen


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    waiting: int = parameter(5, "Minimum number of waiting jobs", low=1, high=1_000_000, unit="jobs")
    factor: float = parameter(2.0, "Minimum growth over half of the window", low=1.0, high=1_000.0, unit="×")


class QueueGrows(Rule):
    """Rule about a growing number of waiting jobs; at most one finding."""

    name = "queue_grows"
    title = "Growing number of waiting jobs"
    summary = (
        "The number of waiting jobs is at its maximum and has grown by the given factor within half of the overview "
        "window."
    )
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.situation is None:
            return ()
        shown = seen.situation.shown
        curve = shown["queue"]["curve"]
        times = curve["at_ms"]
        since_ms = max(times[-1] - shown["window_ms"] // 2, seen.situation.facts.seen_from_ms)
        begin = bisect_left(times, since_ms)
        late = curve["waiting"][begin:]
        least = max(self.parameters.waiting, self.parameters.factor * max(1, late[0]) if late else 0)
        if not late or late[-1] < least or late[-1] < max(late) or late[-1] == late[0]:
            return ()
        ago_ms = times[-1] - times[begin]
        return [Finding(self.name, {"before": late[0], "now": late[-1], "ago_ms": ago_ms})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        grown = f"from {values['before']:,} to {values['now']:,}"
        return f"The number of waiting jobs has grown {grown} within {duration(values['ago_ms'])}"
