"""Backfill passes: when the next one runs, and moments that are known as text.

Slurm runs a pass one interval after the last one, or later if nothing has changed by then (sched/backfill). When a real
cluster ran its passes can be known, and is then followed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from scheduling.model.values import ModelError, shorten

SPREAD_MS = 500  # by which a moment may lie beside a row of moments that has one interval between each two
ROW = re.compile(r"(\d{1,15})(?:\*(\d{1,6}))?")
MAX_PASSES = 1_000_000


class Passes:
    """Slots of the passes. known: slots in order."""

    def __init__(self, known: Sequence[int], interval: int) -> None:
        self.known, self.interval = known, interval

    def next(self, due: int, last: int | None) -> int:
        """Slot of the first pass from `due` on; last: slot of the last one, None before the first.

        A known pass that is more than an interval late does not count: those before it are not known.
        """
        expected = due if last is None else max(due, last + self.interval)
        place = bisect_left(self.known, due)
        if place < len(self.known) and self.known[place] <= expected + self.interval:
            return self.known[place]
        return expected


def as_text(moments_ms: Iterable[int], interval_ms: int) -> str:
    """Moments in ms as rows `FIRST*COUNT`, each moment within SPREAD_MS; `moments_of` is the inverse."""
    rows: list[tuple[int, int]] = []
    for moment in sorted(moments_ms):
        first, count = rows[-1] if rows else (moment, 0)
        if rows and abs(moment - first - count * interval_ms) <= SPREAD_MS:
            rows[-1] = first, count + 1
        else:
            rows.append((moment, 1))
    return ", ".join(f"{first}*{count}" if count > 1 else str(first) for first, count in rows)


def moments_of(text: str, interval_ms: int) -> list[int]:
    """Moments in ms, in order; ModelError for a text that is not of this form."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = ROW.fullmatch(part)
        if match is None:
            raise ModelError(
                "parameter known_passes (Known backfill passes) must be times in ms, separated by commas, each as "
                f"FIRST or FIRST*COUNT, got {shorten(repr(part))}"
            )
        first, count = int(match[1]), int(match[2] or 1)
        if len(found) + count > MAX_PASSES:
            raise ModelError(f"parameter known_passes (Known backfill passes) must have at most {MAX_PASSES:,} passes")
        found += range(first, first + count * interval_ms, interval_ms)
    return sorted(found)
