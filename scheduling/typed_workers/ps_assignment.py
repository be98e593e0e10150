"""A_ps (A_online, Algorithm 5): which parameter server a job holds while any of its chunks runs.

A job keeps its parameter server over each maximal span in which it runs, and gets another one afterwards, sampled
uniformly from the free ones of its type. What the paper leaves open: when none of its type is free, any other edge one
is taken, and when none is free at all, one in the cloud, which is unlimited.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

import numpy as np

from scheduling.typed_workers.workers import WorkerSlots

_MASK = (1 << 64) - 1


class Held(NamedTuple):
    """A parameter server that a job holds; worker None: in the cloud."""

    worker_slot: int | None
    end_ms: int  # of the span, as far as it is known
    relaxed: bool  # of another type than the job requests


class PsPool:
    """Pool of free parameter servers of the edge, with draws that depend only on the job and its activations."""

    def __init__(self, worker_slots: WorkerSlots, seed: int) -> None:
        self.worker_slots, self.seed = worker_slots, seed
        self.kind = worker_slots.kind.tolist()
        self.free: list[list[int]] = [
            np.flatnonzero(worker_slots.kind == kind).tolist() for kind in range(len(worker_slots.kinds))
        ]
        self.activations: dict[int, int] = {}

    def take(self, job: int, kind: str | None) -> tuple[int | None, bool]:
        """Reserved worker, None if none is free, and whether it is of another type than requested."""
        count = self.activations[job] = self.activations.get(job, -1) + 1
        number = _mixed(self.seed + job * 0x9E3779B97F4A7C15 + count * 0xD1B54A32D192ED03)
        name = self.worker_slots.name(kind)
        own = self.free[self.worker_slots.kinds.index(name)] if name in self.worker_slots.kinds else []
        if own:
            return own.pop(number % len(own)), False
        others = sum(map(len, self.free))
        if not others:
            return None, False
        place = number % others
        for free in self.free:  # in the order of the types
            if place < len(free):
                return free.pop(place), True
            place -= len(free)
        raise AssertionError("the number of free parameter servers is incorrect")

    def give(self, worker_slot: int) -> None:
        """Release of a parameter server."""
        insort(self.free[self.kind[worker_slot]], worker_slot)

    def hold(self, worker_slot: int) -> None:
        """Reservation of a parameter server after a restore."""
        free = self.free[self.kind[worker_slot]]
        del free[bisect_left(free, worker_slot)]


def _mixed(value: int) -> int:
    """splitmix64: every input bit reaches every output bit."""
    value &= _MASK
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & _MASK
    return value ^ (value >> 31)
