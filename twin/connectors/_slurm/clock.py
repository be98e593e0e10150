"""The controller's clock against ours: sdiag reports whole seconds, and several of them give tight bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Clock:
    """Bounds of the controller's clock minus ours in milliseconds."""

    low_ms: int | None = None
    high_ms: int | None = None

    def heard(self, second_ms: int, asked_ms: int, answered_ms: int) -> None:
        """Update by a whole second, reported between two times of ours; a step of either clock resets the bounds."""
        low, high = second_ms - answered_ms, second_ms + 999 - asked_ms
        if self.low_ms is not None and self.high_ms is not None and max(low, self.low_ms) <= min(high, self.high_ms):
            low, high = max(low, self.low_ms), min(high, self.high_ms)
        self.low_ms, self.high_ms = low, high

    @property
    def offset_ms(self) -> int:
        """The smallest offset within the bounds; 0 where the clocks may agree."""
        if self.low_ms is None or self.high_ms is None:
            return 0
        return max(self.low_ms, min(0, self.high_ms))
