"""The cheapest work of a job by each slot at given prices, and the completion that pays best.

In a slot a job does work in one of a few ways, its `uses`; what it pays there for work in between is on the lower hull
of what they cost, a list of pieces with rising prices. The cheapest work by slot t is then the cheapest pieces up to t.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from scheduling.model.training_models import EPSILON
from scheduling.slotted.certificate_problem import BOTH, PARAMETER_SERVERS, WORKERS, Problem

# completions of a task: offsets from its first slot, [low, high); `window` stands for later, or never
Range = tuple[int, int]


class Plan(NamedTuple):
    """A completion and what is bought for it: (offset of the slot, piece, work) of each purchase."""

    surplus: float
    completion: int
    bought: list[tuple[int, int, float]]


class Offers(NamedTuple):
    """Offers of the slots to each task at some prices, [task, slot, piece], the cheapest first; size 0: none left."""

    size: np.ndarray  # work
    price: np.ndarray  # of a unit of work
    workers: np.ndarray  # what the whole piece adds
    served: np.ndarray  # workers that the parameter servers it adds could serve


class Plans:
    """The tasks of a problem, ready to be priced."""

    def __init__(self, task_problem: Problem) -> None:
        self.tasks = task_problem.tasks
        self.worths = [task.worth.tolist() for task in self.tasks]
        depth = max((len(task.uses) for task in self.tasks), default=0)
        self.uses = np.zeros((3, len(self.tasks), depth))  # work, workers, served
        for i, task in enumerate(self.tasks):
            self.uses[:, i, : len(task.uses)] = np.array(task.uses).T
        shape = (len(self.tasks), task_problem.capacity.shape[2])
        self.worker = np.array([task.worker for task in self.tasks]).reshape(shape)
        self.ps = np.array([task.ps for task in self.tasks]).reshape(shape)
        self.cells = sum(task.window for task in self.tasks)  # what one pricing looks at

    def everything(self) -> list[Range]:
        """Ranges of the tasks that allow every completion."""
        return [(0, task.window + 1) for task in self.tasks]

    def pieces(self, prices: np.ndarray) -> Offers:
        """prices: [slot, pool, resource], >= 0."""
        worker = self.worker @ (prices[:, WORKERS] + prices[:, BOTH]).T
        ps = self.ps @ (prices[:, PARAMETER_SERVERS] + prices[:, BOTH]).T
        work, workers, served = (part[:, None, :] for part in self.uses)
        cost = workers * worker[:, :, None] + served * ps[:, :, None]
        at = [np.zeros((*worker.shape, 1)) for _ in range(4)]  # where the hull has got to: work, cost, workers, served
        found: tuple[list[np.ndarray], ...] = ([], [], [], [])
        for _ in range(work.shape[2]):
            ahead = work - at[0]
            further = ahead > EPSILON
            slope = np.where(further, (cost - at[1]) / np.where(further, ahead, 1.0), np.inf)
            chosen = slope.argmin(axis=2)[:, :, None]
            known = np.take_along_axis(further, chosen, 2)
            points = (work, cost, workers, served)
            to = [
                np.where(known, np.take_along_axis(np.broadcast_to(part, cost.shape), chosen, 2), before)
                for part, before in zip(points, at, strict=True)
            ]
            price = np.where(known, np.take_along_axis(slope, chosen, 2), 0.0)
            for kept, part in zip(found, (to[0] - at[0], price, to[2] - at[2], to[3] - at[3]), strict=True):
                kept.append(part)
            at = to
        return Offers(*(np.concatenate(parts, axis=2) if parts else np.zeros((*worker.shape, 0)) for parts in found))

    def best(self, i: int, within: Range, size: list[list[float]], price: list[list[float]]) -> Plan | None:
        """The best plan of task i that completes in the range; None if none does.

        size, price: [offset][piece] of the task. A completion in `window` pays `later` and buys nothing.
        """
        task, worths = self.tasks[i], self.worths[i]
        low, high = within
        best, completion = (task.later, task.window) if high > task.window else (-math.inf, -1)
        held: list[tuple[float, int, int, float]] = []  # (- price, offset, - piece, work): the dearest first
        kept: list[tuple[float, int, int, float]] = []
        work = paid = 0.0
        need = task.need
        for k in range(min(high, task.window)):
            worth = worths[k]
            if worth <= best:  # utilities do not rise
                break
            for piece, (amount, cost) in enumerate(zip(size[k], price[k], strict=True)):
                if amount > 0:
                    heappush(held, (-cost, k, -piece, amount))
                    work += amount
                    paid += cost * amount
            while work > need:
                negative, slot, piece, amount = heappop(held)
                given = min(amount, work - need)
                work -= given
                paid += negative * given
                if given < amount:
                    heappush(held, (negative, slot, piece, amount - given))
                    break
            if k >= low and work >= need - EPSILON and worth - paid > best:
                best, completion, kept = worth - paid, k, held[:]
        if completion < 0:
            return None
        return Plan(best, completion, [(k, -piece, amount) for _, k, piece, amount in kept])
