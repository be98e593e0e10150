"""Differences that the audit has found between a live cluster and its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.reporting.quantities import counted
from twin.alerts.base import CLUSTER, SERIOUS, Finding, Rule, Seen


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    differences: int = parameter(1, "Minimum number of differences", low=1, high=1_000_000)


class Drift(Rule):
    """Rule about differences of the drift audit; at most one finding."""

    name = "drift"
    title = "Drift"
    summary = "The hourly audit has found differences between a live cluster and its log."
    level = SERIOUS
    about = (CLUSTER,)
    page = "live"
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        drift = seen.drift
        if (drift.get("count") or 0) < self.parameters.differences:
            return ()
        first = drift["differences"][0] if drift["differences"] else {}
        values = {"count": drift["count"], "compared": drift["compared"]}
        return [Finding(self.name, values | {"first": {k: first.get(k, "") for k in ("subject", "field")}})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        first = values["first"]
        example = f"; the first is the {first['field']} of {first['subject']}" if first["subject"] else ""
        found = counted(values["count"], "difference")
        return f"{found} between the log and the cluster in {values['compared']:,} jobs and nodes{example}"
