"""Backfill passes of a mirrored cluster: their moments, as its polls report the last one."""

from __future__ import annotations

from collections.abc import Iterable

PART_MS = 600_000  # of a record


class Passes:
    """Moments in ms of the log, in parts of PART_MS. changed: the parts to be stored."""

    def __init__(self) -> None:
        self.parts: dict[int, list[int]] = {}
        self.changed: set[int] = set()

    def add(self, at_ms: int) -> None:
        """The last pass at the time of a poll; repeated ones, and those before the log, are left out."""
        part = at_ms // PART_MS
        known = self.parts.get(part, [])
        if at_ms >= 0 and (not known or at_ms > known[-1]):
            self.parts[part] = [*known, at_ms]
            self.changed.add(part)

    def take_changed(self) -> list[tuple[int, list[int]]]:
        """(part, its moments) of those that have changed since this was asked last."""
        changed, self.changed = sorted(self.changed), set()
        return [(part, self.parts[part]) for part in changed]

    def between(self, from_ms: int, until_ms: int) -> Iterable[int]:
        """Moments from from_ms to until_ms, in order."""
        parts = (self.parts.get(part, ()) for part in range(from_ms // PART_MS, until_ms // PART_MS + 1))
        return (at_ms for part in parts for at_ms in part if from_ms <= at_ms <= until_ms)
