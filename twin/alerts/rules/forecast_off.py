"""Forecasts of a live cluster that do not come true as often as their bands say, or that are not made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.forecast.scoring import BAND, MIN_SCORED
from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.values import ModelError
from twin.alerts.base import CLUSTER, Finding, Rule, Seen, newest
from twin.mirror.connecting.condition import FOLLOWING


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    low_percent: float = parameter(100 * BAND[0], "Minimum coverage of the 80 % band", low=0, high=100, unit="%")
    high_percent: float = parameter(100 * BAND[1], "Maximum coverage of the 80 % band", low=0, high=100, unit="%")
    minutes: float = parameter(10.0, "Maximum age of the newest forecast", low=2, high=100_000, unit="min")

    def __post_init__(self) -> None:
        super(Thresholds, self).__post_init__()
        if self.low_percent > self.high_percent:
            raise ModelError(
                f"parameter low_percent must be at most high_percent ({self.high_percent:g}), got {self.low_percent:g}"
            )


class ForecastOff(Rule):
    """Rule about forecasts; at most one finding of each code."""

    name = "forecast_off"
    title = "Uncalibrated forecasts"
    summary = (
        "The share of starts inside their 80 % band is outside the limits with 95 % confidence, or forecasts are stale."
    )
    about = (CLUSTER,)
    page = "fidelity"
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.data.state != FOLLOWING:  # old data are a finding of another rule
            return ()
        forecasts, found = seen.forecasts, []
        coverage = forecasts.get("coverage") or {}
        if coverage.get("count", 0) >= MIN_SCORED and self._outside(coverage):
            values = {"percent": round(100 * coverage["share"], 1), "starts": coverage["count"]}
            limits = {"low_percent": self.parameters.low_percent, "high_percent": self.parameters.high_percent}
            found.append(Finding("coverage", values | limits, "coverage"))
        made_at = forecasts.get("made_at")
        if made_at is not None and seen.now - made_at > 60 * self.parameters.minutes:
            found.append(Finding("forecast_old", {"made_at": made_at}, "age"))
        return found

    def _outside(self, coverage: dict[str, Any]) -> bool:
        """True if the whole interval of the coverage is outside, as in scoring.calibration."""
        low, high = self.parameters.low_percent / 100, self.parameters.high_percent / 100
        return bool(coverage["low"] > high or coverage["high"] < low)

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        if code == "forecast_old":
            return newest("forecast is", values["made_at"])
        limits = f"{values['low_percent']:g} to {values['high_percent']:g} %"
        return f"{values['percent']:g} % of {values['starts']:,} starts were inside their 80 % band, expected {limits}"
