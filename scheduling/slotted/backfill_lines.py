"""Lines of the queue of backfilling schedulers, and the walk over their candidates."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scheduling.kernel.resource_vector import GUARD
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision, Verdict
from scheduling.slotted.gangs.packing import WORKER, Packing

Key = tuple[float, int]  # rank in the queue, then the job


@dataclass
class Line:
    """Waiting jobs in their order, with as many workers each. user: whose, where users are ranked; else None."""

    workers: int
    user: str | None
    least: int  # packed: no worker in the line needs less of a resource
    keys: list[Key] = field(default_factory=list)

    def fits(self, packing: Packing) -> bool:
        """False if no gang of the line fits into what is free."""
        return has_room(packing, self.least, self.workers)


class Candidates(NamedTuple):
    """Keys of the jobs of a line that may start, and the rank of its user."""

    rank: float
    keys: Sequence[Key]
    line: Line


def has_room(packing: Packing, worker: int, workers: int) -> bool:
    """True if these workers of a packed demand fit into what is free; parameter servers may still lack room."""
    for server in packing.hosts[WORKER]:
        free = packing.free[server] - worker
        while free & GUARD == GUARD:
            workers -= 1
            if not workers:
                return True
            free -= worker
    return False


class Starts:
    """Starts and rejections of one call."""

    def __init__(self) -> None:
        self.plan: dict[int, list[Placement]] = {}
        self.finishes: dict[int, int] = {}
        self.verdicts: list[Verdict] = []

    def decision(self) -> Decision:
        """The same as a decision."""
        return Decision(self.plan, self.finishes, tuple(self.verdicts)) if self.verdicts else NOTHING


class Walk:
    """Walk through the queue in its order: of each line only the first job that is left can be the next."""

    def __init__(self, lines: Sequence[Candidates], estimates: Mapping[int, int]) -> None:
        self.lines, self.estimates = lines, estimates
        self.heads = [(rank, keys[0], number, 0) for number, (rank, keys, _) in enumerate(lines)]
        heapq.heapify(self.heads)
        self.longest: dict[int, int] = {}  # number of a line -> longest estimate of its jobs that may still start
        self.number: int | None = None  # of the current job's line

    def next(self) -> int | None:
        """Next job; None at the end."""
        if self.number is not None:
            self._move_on(self.number)
        if not self.heads:
            return None
        self.rank, (_, job), self.number, self.place = heapq.heappop(self.heads)
        return job

    @property
    def line(self) -> Line:
        """Line of the current job."""
        assert self.number is not None
        return self.lines[self.number].line

    def leave_line(self) -> None:
        """End of the line of the current job."""
        self.number = None

    def only(self, slots: int) -> None:
        """Limit of the line of the current job: estimates up to `slots`."""
        assert self.number is not None
        self.longest[self.number] = slots

    def _move_on(self, number: int) -> None:
        keys, longest, place = self.lines[number].keys, self.longest.get(number), self.place + 1
        if longest is not None:
            estimates = self.estimates
            while place < len(keys):
                _, job = keys[place]
                if estimates[job] <= longest:
                    break
                place += 1
        if place < len(keys):
            heapq.heappush(self.heads, (self.rank, keys[place], number, place))
