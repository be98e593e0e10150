"""Runs without progress: they wait for a worker, are held by the database or the disk, or compute for long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.alerts.base import BATCH, RUN, SERIOUS, Finding, Rule, Seen

STATES = ("held", "stalled", "waiting")  # of runs/activity.py; pausing is wanted


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    seconds: float = parameter(60.0, "Minimum time without progress", low=3, high=1_000_000, unit="s")


class RunStalled(Rule):
    """Rule about runs without progress; at most one finding."""

    name = "run_stalled"
    title = "Stalled run"
    summary = (
        "A run in progress has waited for a worker, the database or the disk, or has not finished a decision, for the "
        "given time."
    )
    level = SERIOUS
    about = (RUN, BATCH)
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        activity = seen.activity
        if activity is None or activity["state"] not in STATES or activity["seconds"] < self.parameters.seconds:
            return ()
        return [Finding(activity["state"], {})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        return {
            "held": "The run waits: the database or the disk accepts no events",
            "waiting": "The run waits for a worker",
            "stalled": "The run makes no progress: its worker computes one long decision, or does not respond",
        }.get(code, code)
