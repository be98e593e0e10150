"""Amounts as people say them."""

from __future__ import annotations


def duration(ms: float) -> str:
    """Milliseconds as people say them: 850 ms, 12.5 s, 3 min 20 s, 5 h 10 min, 2 d 3 h."""
    if ms < 1_000:
        return f"{ms:g} ms"
    seconds = ms / 1_000
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 3_600:
        return _two_parts(seconds, "min", 60, "s", 1)
    if seconds < 86_400:
        return _two_parts(seconds, "h", 3_600, "min", 60)
    return _two_parts(seconds, "d", 86_400, "h", 3_600)


def count(number: int, noun: str) -> str:
    """1 worker, 2 workers."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _two_parts(seconds: float, unit: str, size: int, part: str, part_size: int) -> str:
    """The second part to the nearest, as static/js/lib/format.js does it: the same amount reads alike everywhere."""
    whole = int(seconds // size)
    rest = int((seconds - whole * size) / part_size + 0.5)
    if rest * part_size >= size:
        whole, rest = whole + 1, 0
    return f"{whole} {unit} {rest} {part}" if rest else f"{whole} {unit}"
