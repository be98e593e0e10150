"""Many rejected jobs in the window of the overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.reporting.quantities import count, duration
from twin.alerts.base import Finding, Rule, Seen

REASONS = {  # short texts of codes, after a number of jobs; other codes are shown as words
    "payoff_not_positive": "with a cost above the utility",
    "reward_too_low": "with a cost above the utility",
    "fits_nowhere": "too large for every server",
    "gang_fits_nowhere": "too large for every server",
    "gang_too_large": "with too many workers for the cluster",
    "no_capacity": "without free capacity",
    "too_late": "too late for the horizon",
}


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    jobs: int = parameter(10, "Minimum number of rejected jobs in the window", low=1, high=1_000_000, unit="jobs")


class Rejections(Rule):
    """Rule about rejected jobs; at most one finding."""

    name = "rejections"
    title = "Rejections"
    summary = "At least the given number of jobs were rejected in the window of the overview."
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.situation is None:
            return ()
        shown = seen.situation.shown
        jobs = shown["rejected"]["recent"]
        if jobs < self.parameters.jobs:
            return ()
        values = {"jobs": jobs, "reasons": shown["rejected"]["reasons"], "window_ms": shown["window_ms"]}
        return [Finding(self.name, values)]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        reasons = ", ".join(f"{row['jobs']:,} {_reason(row['code'])}" for row in values["reasons"])
        jobs, window = count(values["jobs"], "job"), duration(values["window_ms"])
        return f"{jobs} rejected in {window}" + (f": {reasons}" if reasons else "")


def _reason(code: str) -> str:
    return REASONS.get(code, code.replace("_", " "))
