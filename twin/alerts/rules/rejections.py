"""Many rejected jobs in the overview window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.reporting.quantities import counted, duration
from twin.alerts.base import Finding, Rule, Seen

REASONS = {  # short texts of codes, after a number of jobs
    "payoff_not_positive": "with a cost above the utility",
    "reward_too_low": "with a cost above the utility",
    "replanning.hopeless": "with a cost above the utility",
    "missing_part": "with a missing field",
    "fits_nowhere": "too large for every server",
    "fits_nowhere_together": "too large for any single server",
    "gang_fits_nowhere": "too large for the cluster",
    "gang_too_large": "with too many workers for the cluster",
    "ps_too_slow": "with parameter servers that are too slow",
    "no_capacity": "without free capacity",
    "too_late": "too late for the horizon",
    "no_worker_of_type": "without a worker of their type",
    "too_much_work": "with too much work",
    "storage_too_small": "too large for the storage",
    "memory_too_small": "too large for the memory",
    "naive_colocation.partition_too_small": "too large for every partition",
    "gavel.no_type": "too large for every machine type",
    "no_machines": "without servers for workers",
    "conservative.exceeds_quota": "above the quota",
    "easy.exceeds_quota": "above the quota",
    "slurm.exceeds_quota": "above the quota",
    "quota_queues.exceeds_quota": "above the quota",
}


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    jobs: int = parameter(10, "Minimum number of rejected jobs in the window", low=1, high=1_000_000, unit="jobs")


class Rejections(Rule):
    """Rule about rejected jobs; at most one finding."""

    name = "rejections"
    title = "Rejections"
    summary = "At least the given number of jobs were rejected in the overview window."
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
        jobs, window = counted(values["jobs"], "job"), duration(values["window_ms"])
        return f"{jobs} rejected in {window}" + (f": {reasons}" if reasons else "")


def _reason(code: str) -> str:
    """Text of a code; of one of a scheduler that is no longer installed, its own words."""
    return REASONS.get(code) or f"for the reason “{code.rpartition('.')[2].replace('_', ' ')}”"
