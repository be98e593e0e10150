"""Resources that become free as running jobs end by their estimates, in the steps in which Slurm looks ahead.

Jobs that end close together end in one step, at the last of these ends: the first step ends 30 s after the next
multiple of 30 s, and each further one reaches twice as far. So the start that Slurm expects of a job is later than the
exact one, the more so the farther away it is. As in Slurm, a step does not end at a job that holds none of the servers,
but takes the next one that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

STEP_MS = 30_000


class Ending(NamedTuple):
    """The expected end of a running job. servers: those that it holds, as a set; held: (server, packed amounts)."""

    slot: int
    servers: int
    held: Sequence[tuple[int, int]]


class Ends:
    """The steps for a set of servers: (slot, what is free then), made as they are asked for."""

    def __init__(self, free: Sequence[int], servers: int, endings: Sequence[Ending], step: int) -> None:
        """endings: all running jobs, by their ends; step: slots of the first step."""
        self.free, self.servers, self.endings, self.step = free, servers, endings, step
        self.place, self.barrier = 0, -1
        self.known: list[tuple[int, list[int]]] = []

    def __iter__(self) -> Iterator[tuple[int, list[int]]]:
        number = 0
        while number < len(self.known) or self._further():
            yield self.known[number]
            number += 1

    def _further(self) -> bool:
        """One more step; False after the last end."""
        free, last, following = list(self.known[-1][1] if self.known else self.free), -1, None
        while self.place < len(self.endings):
            ending = self.endings[self.place]
            self.place += 1
            if not ending.servers & self.servers:
                continue
            if self.barrier < 0:
                self.barrier = ending.slot + self.step - ending.slot % self.step
            for server, amounts in ending.held:
                free[server] += amounts
            last = ending.slot
            following = self.endings[self.place].slot if self.place < len(self.endings) else None
            if following is None or following > self.barrier + self.step:
                break
        if last < 0:
            return False
        self.step *= 2
        while following is not None and following > self.barrier + self.step:
            self.step *= 2
        self.known.append((last, free))
        return True


class EndsByServers:
    """The steps for each set of servers that a pass asks for, from what is free and runs now."""

    def __init__(self, free: Sequence[int], endings: Callable[[], list[Ending]], step: int) -> None:
        self.free, self.make, self.step = free, endings, step
        self.endings: list[Ending] | None = None
        self.known: dict[int, Ends] = {}

    def of(self, servers: int) -> Ends:
        """The steps for these servers."""
        if self.endings is None:
            self.endings = self.make()
        if servers not in self.known:
            self.known[servers] = Ends(self.free, servers, self.endings, self.step)
        return self.known[servers]
