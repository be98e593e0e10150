"""The map of a backfill pass: in which intervals which servers are not reserved."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple


class Interval(NamedTuple):
    """Slots in which these servers are not reserved; the set is an int."""

    begin: int
    end: int
    servers: int


class Planned:
    """Intervals in order and without gaps."""

    def __init__(self, begin: int, end: int, servers: int) -> None:
        self.rows = [Interval(begin, end, servers)]

    def open(self, start: int, end: int, servers: int) -> tuple[int, int | None]:
        """(servers that are not reserved from start to end, next slot at which others might be; None without one)."""
        later, whole = None, servers
        for number, interval in enumerate(self.rows):
            if interval.end <= start:
                continue
            if later is None and number + 1 < len(self.rows):
                following = whole & self.rows[number + 1].servers
                if following & ~(servers & interval.servers):
                    later = interval.end
            if interval.begin > end:
                break
            servers &= interval.servers
        return servers, later

    def overlaps(self, begin: int, end: int, servers: int) -> bool:
        """True if some of the servers are reserved between the slots."""
        return any(until > begin and since < end and servers & ~free for since, until, free in self.rows)

    def reserve(self, begin: int, end: int, servers: int) -> None:
        """Reservation of whole servers."""
        rows: list[Interval] = []
        for since, until, free in self.rows:
            cuts = [since, *(cut for cut in (begin, end) if since < cut < until), until]
            for first, last in pairwise(cuts):
                rest = free & ~servers if begin <= first and last <= end else free
                if rows and rows[-1].servers == rest:
                    rows[-1] = rows[-1]._replace(end=last)
                else:
                    rows.append(Interval(first, last, rest))
        self.rows = rows
