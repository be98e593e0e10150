"""Moments in messages: days and hours since the scenario's start."""

from __future__ import annotations


def moment(ms: int) -> str:
    """E.g. `3 d 04:05:06`, with milliseconds where there are any."""
    seconds, rest = divmod(ms, 1000)
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}" + (f".{rest:03d}" if rest else "")
    return f"{days} d {clock}" if days else clock
