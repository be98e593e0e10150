"""The cluster's clock, bounded by the Date of its answers."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime


class Clock:
    """Offset of the cluster's clock to ours, between two bounds that every answer narrows.

    An answer dated D (whole seconds), asked at t0 and received at t1, was written between D and D + 1 s of the
    cluster's clock.
    """

    def __init__(self) -> None:
        self._bounds: tuple[int, int] | None = None

    def see(self, date: str | None, asked_ms: int, received_ms: int) -> None:
        """Update of the bounds by one answer."""
        try:
            dated = int(parsedate_to_datetime(date or "").timestamp()) * 1000
        except ValueError:
            return
        low, high = dated - received_ms, dated + 1000 - asked_ms
        if self._bounds is not None and max(low, self._bounds[0]) <= min(high, self._bounds[1]):
            low, high = max(low, self._bounds[0]), min(high, self._bounds[1])
        self._bounds = low, high  # where they exclude each other, a clock was set: only the newest one counts

    @property
    def offset_ms(self) -> int | None:
        """The cluster's clock minus ours: 0 if possible, else the middle of the bounds; None before any answer."""
        if self._bounds is None:
            return None
        low, high = self._bounds
        return 0 if low <= 0 <= high else (low + high) // 2

    def now_ms(self) -> int:
        """The cluster's clock now."""
        return ours_ms() + (self.offset_ms or 0)


def ours_ms() -> int:
    """Time by the clock of this machine."""
    return time.time_ns() // 1_000_000
