"""The map of a backfill pass: in which intervals which servers are not reserved."""

from __future__ import annotations

from itertools import pairwise


class Planned:
    """Intervals [begin, end, servers] in slots, in order and without gaps; sets of servers are ints."""

    def __init__(self, begin: int, end: int, servers: int) -> None:
        self.rows: list[tuple[int, int, int]] = [(begin, end, servers)]

    def open(self, start: int, end: int, servers: int) -> tuple[int, int | None]:
        """(servers that are not reserved from start to end, next slot at which others might be; None without one)."""
        later, whole = None, servers
        for number, (_, until, free) in enumerate(self.rows):
            if until <= start:
                continue
            if later is None and number + 1 < len(self.rows):
                following = whole & self.rows[number + 1][2]
                if following & ~(servers & free):
                    later = until
            if self.rows[number][0] > end:
                break
            servers &= free
        return servers, later

    def overlaps(self, begin: int, end: int, servers: int) -> bool:
        """True if some of the servers are reserved between the slots."""
        return any(until > begin and since < end and servers & ~free for since, until, free in self.rows)

    def reserve(self, begin: int, end: int, servers: int) -> None:
        """Reservation of whole servers."""
        rows: list[tuple[int, int, int]] = []
        for since, until, free in self.rows:
            cuts = [since, *(cut for cut in (begin, end) if since < cut < until), until]
            for first, last in pairwise(cuts):
                rest = free & ~servers if begin <= first and last <= end else free
                if rows and rows[-1][2] == rest:
                    rows[-1] = (rows[-1][0], last, rest)
                else:
                    rows.append((first, last, rest))
        self.rows = rows
