"""Simulated times in messages: days and hours since the start of the scenario."""

from __future__ import annotations


def moment(ms: int) -> str:
    """Simulated time as text, e.g. `3d 04:05:06`, as on pages (clock of static/js/util/format.js); ms if not 0."""
    seconds, rest = divmod(ms, 1000)
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}" + (f".{rest:03d}" if rest else "")
    return f"{days}d {clock}" if days else clock
