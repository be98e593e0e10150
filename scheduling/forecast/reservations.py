"""Reservations: for the first job of a queue that does not fit, the earliest time at which it fits by time limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduling.forecast.fitting import Fitting, fits
from scheduling.forecast.values import NEVER, Closed, Node, Waiting


class Shares:
    """Amounts that running jobs hold, one row per node and job, and the ends of their time limits."""

    def __init__(self, resources: int) -> None:
        self.numbers: dict[str, int] = {}  # job -> its number in `jobs`
        self.jobs = self.nodes = self.ends = np.zeros(0, dtype=np.int64)  # one per row
        self.amounts = np.zeros((0, resources), dtype=np.int64)
        self.sorted: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def add(self, job: str, nodes: np.ndarray, amounts: np.ndarray, limit_end_ms: int) -> None:
        """Start of a job."""
        self.numbers[job] = number = len(self.numbers)
        self.jobs = np.concatenate([self.jobs, np.full(len(nodes), number)])
        self.nodes = np.concatenate([self.nodes, nodes])
        self.ends = np.concatenate([self.ends, np.full(len(nodes), limit_end_ms)])
        self.amounts = np.concatenate([self.amounts, amounts])
        self.sorted = None

    def pop(self, job: str) -> tuple[np.ndarray, np.ndarray]:
        """End of a job: the (nodes, amounts) that it held."""
        own = self.jobs == self.numbers[job]
        found, kept = (self.nodes[own], self.amounts[own]), ~own
        self.jobs, self.nodes, self.ends = self.jobs[kept], self.nodes[kept], self.ends[kept]
        self.amounts, self.sorted = self.amounts[kept], None
        return found

    def by_end(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(nodes, ends, amounts that are freed on the node up to that end), sorted by node, then by end."""
        if self.sorted is None:
            order = np.lexsort((self.ends, self.nodes))
            nodes, ends = self.nodes[order], self.ends[order]
            sums = np.cumsum(self.amounts[order], axis=0)
            first = np.flatnonzero(nodes[1:] != nodes[:-1]) + 1
            before = np.zeros_like(sums)
            before[first] = sums[first - 1]
            self.sorted = nodes, ends, sums - np.maximum.accumulate(before, axis=0)
        return self.sorted


class Reservation(NamedTuple):
    """start_ms: when the job fits by the limits; spare: amounts [node] beside it then, of its nodes only."""

    job: int
    start_ms: int
    on: np.ndarray  # [node] bool
    spare: np.ndarray


class Windows:
    """Times in which nodes are reserved for others."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        rows = [(place, *closed) for place, node in enumerate(nodes) for closed in node.closed]
        self.rows: dict[Closed, np.ndarray] = {}
        for closed in sorted({Closed(*row[1:]) for row in rows}):
            self.rows[closed] = np.array([place for place, *rest in rows if tuple(rest) == closed], dtype=np.int64)
        self.times = sorted({ms for closed in self.rows for ms in (closed.from_ms, closed.to_ms)})

    def open(self, job: Waiting, at_ms: int, number: int) -> np.ndarray | None:
        """[node] whether the job may begin there now; None for all nodes."""
        found = None
        for closed, places in self.rows.items():
            inside = closed.from_ms <= at_ms < closed.to_ms
            bad = not inside if closed.name == job.reservation else _overlaps(closed, at_ms, job.limit_ms)
            if bad:
                found = np.ones(number, dtype=bool) if found is None else found
                found[places] = False
        return found

    def delay(self, job: Waiting, ready: np.ndarray) -> np.ndarray:
        """The times from which nodes are ready, moved out of the windows in which the job may not run there."""
        for closed, places in self.rows.items():
            at = ready[places]
            if closed.name == job.reservation:
                ready[places] = np.where(at >= closed.to_ms, NEVER, np.maximum(at, closed.from_ms))
            else:
                over = (at < closed.to_ms) & (at + min(job.limit_ms, NEVER) > closed.from_ms)
                ready[places] = np.where(over, closed.to_ms, at)
        return ready


def reserve(
    number: int, job: Waiting, now_ms: int, fitting: Fitting, shares: Shares, windows: Windows
) -> Reservation | None:
    """The earliest reservation of a job by the limits of what runs; None where no end of a job makes it fit."""
    nodes, ends, freed = shares.by_end()
    left = np.ones(len(fitting.free), dtype=bool)  # nodes that no group has taken
    start_ms, chosen = now_ms, []
    for group, kind in zip(job.groups, fitting.kinds[number], strict=True):
        ready = np.where(fitting.table[:, kind], now_ms, NEVER)
        if len(nodes):
            free = fitting.free[nodes] + freed
            needed = fitting.capacity[nodes] if fitting.whole[kind] else fitting.demand[kind]
            fit = fits(needed, free) & fitting.possible[nodes, kind]
            np.minimum.at(ready, nodes[fit], np.maximum(ends[fit], now_ms))
        ready = windows.delay(job, ready)
        ready[~left] = NEVER
        order = np.argsort(ready, kind="stable")[: group.count]
        if len(order) < group.count or ready[order[-1]] >= NEVER:
            return None
        start_ms = max(start_ms, int(ready[order[-1]]))
        left[order] = False
        chosen.append((order, fitting.amounts(kind, order)))
    on = ~left
    spare = fitting.free.copy()
    over, same = ends <= start_ms, np.diff(nodes, append=-1) == 0  # same: the next row is of the same node
    last = np.flatnonzero(over & ~(same & np.append(over[1:], False)))
    spare[nodes[last]] += freed[last]
    for order, amounts in chosen:
        spare[order] -= amounts
    return Reservation(number, start_ms, on, spare)


def _overlaps(closed: Closed, at_ms: int, limit_ms: int) -> bool:
    return at_ms < closed.to_ms and at_ms + limit_ms > closed.from_ms
