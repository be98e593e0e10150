"""Accuracy of past forecasts: error by lead, coverage of the band, bias, and the state of calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

MINUTE_MS = 60_000
LEADS = ("under_1_min", "1_to_10_min", "10_to_60_min", "1_to_6_h", "over_6_h")
LEAD_EDGES_MS = np.array([1, 10, 60, 360]) * MINUTE_MS
WITHIN_MIN = (1, 10, 60)
CALIBRATED, LEARNING, OFF = "calibrated", "learning", "off"
MIN_SCORED = 100  # scored forecasts, below which the twin is learning
BAND = (0.75, 0.85)  # coverage of a calibrated 80 % band


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of starts in ms. bias: mean of real minus forecast, above 0 where jobs start later than forecast."""

    count: int
    mean_ms: float | None = None
    median_ms: float | None = None
    p90_ms: float | None = None
    bias_ms: float | None = None
    within: tuple[float, ...] = ()  # shares with an error up to WITHIN_MIN


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of the starts inside their band, with its Wilson interval (95 %)."""

    count: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


def lead(wait_ms: int) -> int:
    """Place in LEADS of a forecast that was made so long before the start."""
    return int(np.searchsorted(LEAD_EDGES_MS, wait_ms, side="right"))


def errors(real_ms: np.ndarray, predicted_ms: np.ndarray) -> Errors:
    """Errors of forecasts of starts, as waits or as times."""
    if not len(real_ms):
        return Errors(0)
    difference = np.asarray(real_ms, dtype=float) - np.asarray(predicted_ms, dtype=float)
    errors = np.sort(np.abs(difference))
    p90 = errors[math.ceil(0.9 * len(errors)) - 1]
    within = tuple(float((errors <= minutes * MINUTE_MS).mean()) for minutes in WITHIN_MIN)
    return Errors(
        len(errors), float(errors.mean()), float(np.median(errors)), float(p90), float(difference.mean()), within
    )


def coverage(inside: int, count: int) -> Coverage:
    """The share with its Wilson interval."""
    if not count:
        return Coverage(0)
    z = 1.959964
    share, scale = inside / count, 1 + z * z / count
    middle = (share + z * z / (2 * count)) / scale
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / scale
    return Coverage(count, share, max(0.0, middle - half), min(1.0, middle + half))


def calibration(of: Coverage) -> str:
    """learning below MIN_SCORED scored forecasts; calibrated where the coverage may lie in BAND; else off."""
    if of.count < MIN_SCORED or of.low is None or of.high is None:
        return LEARNING
    return CALIBRATED if of.low <= BAND[1] and of.high >= BAND[0] else OFF
