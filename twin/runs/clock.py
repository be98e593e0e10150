"""The clock of a live run: sim time was `sim_ms` at wall time `wall`, and `speed` ms of it pass per ms. 0 = paused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

MAX_SPEED = 86_400_000.0  # a day of the cluster in a millisecond


@dataclass(frozen=True, slots=True)
class Clock:
    """Clock of a run. It is immutable: each method gives a new one anchored at `now`."""

    sim_ms: int
    wall: datetime
    speed: float

    def now_ms(self, wall: datetime) -> int:
        """Sim time at a wall time; it never runs backwards when the wall clock does."""
        elapsed = max(0.0, (wall - self.wall) / timedelta(milliseconds=1))
        return self.sim_ms + int(elapsed * self.speed)

    def with_speed(self, speed: float, wall: datetime) -> Clock:
        """Clock at the same time with another speed."""
        if not 0 <= speed <= MAX_SPEED:
            raise ValueError(f"speed must be from 0 (paused) to {MAX_SPEED:g} simulated ms per real ms, got {speed!r}")
        return Clock(self.now_ms(wall), wall, speed)

    def at(self, sim_ms: int, wall: datetime) -> Clock:
        """Clock moved to a time, with the same speed."""
        return replace(self, sim_ms=sim_ms, wall=wall)

    def wall_of(self, sim_ms: int) -> datetime | None:
        """Wall time at which sim time reaches `sim_ms`; None while paused before it."""
        if sim_ms <= self.sim_ms:
            return self.wall
        return None if self.speed == 0 else self.wall + timedelta(milliseconds=(sim_ms - self.sim_ms) / self.speed)
