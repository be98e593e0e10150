"""Unavailable servers: failed, drained, or out of contact with their cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.alerts.base import SERIOUS, Finding, Rule, Seen, since


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    away_s: float = parameter(0.0, "Minimum duration of the outage", low=0, high=2_592_000, unit="s")


class ServerUnavailable(Rule):
    """One finding for each server."""

    name = "server_unavailable"
    title = "Unavailable server"
    summary = "A server has been unavailable for at least the given time, by the clock of the run."
    level = SERIOUS
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.situation is None:
            return ()
        least_ms = self.parameters.away_s * 1_000
        return [
            Finding(self.name, server, server["name"])
            for server in seen.situation.facts.away
            if seen.now_ms - server["since_ms"] >= least_ms
        ]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        return f"Server {values['name']} ({values['site']}) has been unavailable since {since(values)}"
