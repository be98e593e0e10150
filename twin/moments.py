"""Times in messages: simulated time since the start of a log, and moments of the real world in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(ms: int) -> str:
    """Simulated time as text, e.g. `3d 04:05:06`, as on pages (clock of static/js/util/format.js); ms if not 0."""
    seconds, rest = divmod(ms, 1000)
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}" + (f".{rest:03d}" if rest else "")
    return f"{days}d {clock}" if days else clock


def run_moment(ms: int, epoch_ms: int | None, *, whole: bool = False) -> str:
    """Time of a run's log as text: in UTC if its times count from epoch_ms, else as moment(), whole: to the second.

    epoch_ms: Run.epoch_ms. runTime of static/js/util/wall-clock.js is the same on pages.
    """
    if epoch_ms is not None:
        return moment_utc(epoch_ms + ms)
    return moment(ms - ms % 1000 if whole else ms)


def moment_utc(wall_ms: int) -> str:
    """Unix ms as text, e.g. `2026-11-24 19:40:05 UTC`, to the second."""
    return f"{date_time(wall_ms)} UTC"


def date_time(wall_ms: float) -> str:
    """Unix ms as text without a time zone, e.g. `2026-11-24 19:40:05`, to the second."""
    return f"{datetime.fromtimestamp(wall_ms // 1000, UTC):%Y-%m-%d %H:%M:%S}"


def unix_ms(at: datetime) -> int:
    """The moment in Unix ms; rounded, as the float before it may lie just below the ms."""
    return round(at.timestamp() * 1000)
