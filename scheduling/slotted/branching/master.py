"""The linear program over plans: which share of each job follows which plan, within the capacities of the pools.

Its columns are plans that were generated (`value_within`) at the prices of earlier solutions: column generation. Its
duals are the next prices. The program is not part of any proof: every bound is computed from prices alone.
"""

from __future__ import annotations

from typing import NamedTuple

import highspy
import numpy as np

from scheduling.slotted.branching.plans import Offers, Plan, Plans, Range
from scheduling.slotted.certificate_problem import BOTH, PARAMETER_SERVERS, WORKERS, Problem

NONE = np.array([], dtype=np.int32)


class Shares(NamedTuple):
    """Solution: value, the prices [slot, pool, resource], and the share of each task by completion."""

    value: float
    prices: np.ndarray
    shares: list[dict[int, float]]


class Master:
    """Rows: capacity of each slot, pool and resource that jobs use; then the shares of each task, at most 1."""

    def __init__(self, task_problem: Problem, plans: Plans) -> None:
        self.problem, self.plans = task_problem, plans
        self.bounded = np.zeros(task_problem.capacity.shape, dtype=bool)
        for pool in task_problem.pools:
            self.bounded[:, pool, list(task_problem.counted)] = True
        self.cells = np.flatnonzero(self.bounded.ravel())
        self.solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
            self.solver.setOptionValue(option, value)
        self.solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for amount in task_problem.capacity.ravel()[self.cells].tolist():
            self.solver.addRow(-highspy.kHighsInf, amount, 0, NONE, np.array([]))
        worst = sum(worths[0] for worths in plans.worths if worths)
        for i in range(len(plans.tasks)):
            self.solver.addRow(-highspy.kHighsInf, 1.0, 0, NONE, np.array([]))
            # a task that has to complete may not be able to: at a price that no schedule is worth
            self.solver.addCol(-worst, 0.0, highspy.kHighsInf, 1, self._row(i), np.ones(1))
        self.task = [-1] * len(plans.tasks)  # of each column
        self.completion = [-1] * len(plans.tasks)
        self.known: set[tuple[int, int, bytes]] = set()
        for i, task in enumerate(plans.tasks):
            if task.later:
                self._column(i, task.window, task.later, NONE, np.array([]))

    def add(self, pieces: Offers, found: list[Plan]) -> None:
        """Columns of the plans that it does not have."""
        slots = len(self.bounded)
        for i, plan in enumerate(found):
            if not plan.bought:
                continue
            task = self.plans.tasks[i]
            held = np.zeros((2, slots))
            for offset, piece, amount in plan.bought:
                slot = task.first + offset
                share = amount / pieces.size[i, slot, piece]
                held[0, slot] += share * pieces.workers[i, slot, piece]
                held[1, slot] += share * pieces.served[i, slot, piece]
            key = (i, plan.completion, np.round(held, 9).tobytes())
            if key in self.known:
                continue
            self.known.add(key)
            amounts = np.zeros(self.bounded.shape)
            amounts[:, WORKERS] = held[0][:, None] * task.worker
            amounts[:, PARAMETER_SERVERS] = held[1][:, None] * task.ps
            amounts[:, BOTH] = amounts[:, WORKERS] + amounts[:, PARAMETER_SERVERS]
            taken = amounts.ravel()[self.cells]
            rows = np.flatnonzero(taken > 1e-12)
            worth = self.plans.worths[i][plan.completion]
            self._column(i, plan.completion, worth, rows.astype(np.int32), taken[rows])

    def allow(self, ranges: list[Range]) -> None:
        """Restriction to plans that complete in the ranges; a task that never may stay out must be complete."""
        count = len(self.task)
        low, high = np.array([(0, 0), *ranges]).T
        owner = np.array(self.task) + 1  # 0: of no task
        at = np.array(self.completion)
        out = (owner > 0) & ((at < low[owner]) | (at >= high[owner]))
        self.solver.changeColsBounds(
            count, np.arange(count, dtype=np.int32), np.zeros(count), np.where(out, 0.0, highspy.kHighsInf)
        )
        for i, (task, (_, last)) in enumerate(zip(self.plans.tasks, ranges, strict=True)):
            must = last <= task.window
            self.solver.changeRowBounds(int(self._row(i)[0]), 1.0 if must else -highspy.kHighsInf, 1.0)

    def solve(self) -> Shares | None:
        """Optimum over the columns so far; None if the solver fails."""
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found = self.solver.getSolution()
        prices = np.zeros(self.bounded.size)
        prices[self.cells] = np.maximum(np.array(found.row_dual)[: len(self.cells)], 0.0)
        shares: list[dict[int, float]] = [{} for _ in self.plans.tasks]
        values = np.array(found.col_value)
        for column in np.flatnonzero(values > 1e-6).tolist():
            if (owner := self.task[column]) >= 0:
                at = self.completion[column]
                shares[owner][at] = shares[owner].get(at, 0.0) + float(values[column])
        return Shares(self.solver.getObjectiveValue(), prices.reshape(self.bounded.shape), shares)

    def _column(self, i: int, completion: int, worth: float, rows: np.ndarray, taken: np.ndarray) -> None:
        places, amounts = np.append(rows, self._row(i)), np.append(taken, 1.0)
        self.solver.addCol(worth, 0.0, highspy.kHighsInf, len(places), places, amounts)
        self.task.append(i)
        self.completion.append(completion)

    def _row(self, i: int) -> np.ndarray:
        return np.array([len(self.cells) + i], dtype=np.int32)
