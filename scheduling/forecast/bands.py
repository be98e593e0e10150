"""The 80 % band of a start, from the errors of the last forecasts that came true (split conformal prediction).

The error of a forecast is the logarithm of (real wait + 30 s) / (forecast wait + 30 s): waits of seconds and of days
are comparable by it. Long waits have other errors than short ones, so the band of a forecast comes from those of the
last forecasts whose waits were nearest to its own. In the band lie 80 % of their errors; the forecast itself is not
moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

COVERAGE_PERCENT = 80
SMOOTH_MS = 30_000
LAST, NEAREST = 400, 50  # forecasts that count, and those of them by which a band is made
MIN_ERRORS = 9  # with fewer, the outer ranks of the band do not exist


class Band(NamedTuple):
    """The errors between which a forecast lies with the wanted probability."""

    low: float
    high: float

    def around(self, wait_ms: int, least_ms: int = 0) -> tuple[int, int]:
        """The band of a wait; never before now, nor below the least wait that is possible."""
        low, high = (math.exp(edge) * (wait_ms + SMOOTH_MS) - SMOOTH_MS for edge in self)
        return max(0, least_ms, min(wait_ms, round(low))), max(wait_ms, round(high))


class PastError(NamedTuple):
    """The error of a forecast that came true."""

    size: float  # of the forecast wait
    error: float


class Bands:
    """Bands of new forecasts by the last ones that came true: (forecast wait, real wait) in ms, the newest last."""

    def __init__(self, past: Sequence[tuple[int, int]]) -> None:
        newest_first = [PastError(_size(forecast), error(real, forecast)) for forecast, real in reversed(past[-LAST:])]
        rows = sorted(newest_first, key=attrgetter("size"))  # of equal waits the newest come first
        self.sizes, self.errors = [row.size for row in rows], [row.error for row in rows]
        self.known: dict[int, Band] = {}  # by the first of the nearest forecasts

    def around(self, wait_ms: int, least_ms: int = 0) -> tuple[int, int] | None:
        """The band of a forecast wait, which is at least least_ms; None while too few forecasts have come true."""
        if len(self.errors) < MIN_ERRORS:
            return None
        first = self._first(_size(wait_ms))
        if first not in self.known:
            self.known[first] = band(self.errors[first : first + NEAREST])
        return self.known[first].around(wait_ms, least_ms)

    def _first(self, size: float) -> int:
        """Place of the first of the NEAREST forecasts around a size."""
        low, high = 0, max(0, len(self.sizes) - NEAREST)
        while low < high:  # the window moves on while the one that enters is nearer than the one that leaves
            middle = (low + high) // 2
            if self.sizes[middle + NEAREST] - size < size - self.sizes[middle]:
                low = middle + 1
            else:
                high = middle
        return low


def error(real_ms: int, forecast_ms: int) -> float:
    """The error of a forecast wait; above 0 where the job waited longer."""
    return _size(real_ms) - _size(forecast_ms)


def band(errors: Iterable[float]) -> Band:
    """The band by these errors, of which there are MIN_ERRORS or more."""
    ordered = sorted(errors)
    count = len(ordered)
    outside = (100 - COVERAGE_PERCENT) / 200  # on each side
    low = max(1, math.floor(outside * (count + 1)))
    return Band(ordered[low - 1], ordered[count - low])


def _size(wait_ms: int) -> float:
    return math.log(max(0, wait_ms) + SMOOTH_MS)
