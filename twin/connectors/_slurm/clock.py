"""The controller's clock against ours: sdiag tells whole seconds: bounds, which together are tight."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Clock:
    """Bounds of the controller's clock minus ours in milliseconds."""

    low_ms: int | None = None
    high_ms: int | None = None

    def heard(self, told_ms: int, asked_ms: int, answered_ms: int) -> None:
        """Takes a whole second that was told between two times of ours; a step of either clock starts anew."""
        low, high = told_ms - answered_ms, told_ms + 999 - asked_ms
        if self.low_ms is not None and self.high_ms is not None and max(low, self.low_ms) <= min(high, self.high_ms):
            low, high = max(low, self.low_ms), min(high, self.high_ms)
        self.low_ms, self.high_ms = low, high

    @property
    def offset_ms(self) -> int:
        """The smallest offset within the bounds; 0 where the clocks may agree."""
        if self.low_ms is None or self.high_ms is None:
            return 0
        return max(self.low_ms, min(0, self.high_ms))
