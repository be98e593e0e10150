"""A division of all schedules by the completions of jobs, with prices for each part, and the bound that it proves.

A branch asks one task whether it completes before a slot; never is the last answer of all. Every schedule gives one
answer, so it is in exactly one leaf. At a leaf the prices prove a bound by weak duality as in certificate.py, with the
completions of each task that the answers leave. The greatest of these bounds is about all schedules.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scheduling.model.values import ModelError
from scheduling.slotted.branching.plans import Offers, Plan, Plans, Range
from scheduling.slotted.certificate_problem import Problem


class Leaf(NamedTuple):
    """Prices [slot, pool, resource] per whole unit and slot."""

    prices: np.ndarray


class Branch(NamedTuple):
    """Question to a task (by position): does it complete before this offset from its first slot?"""

    task: int
    offset: int
    before: Tree
    after: Tree


Tree = Leaf | Branch


def tree_bound(task_problem: Problem, tree: Tree) -> float:
    """Bound of the tree, recomputed from its prices; ModelError for a question that does not divide."""
    plans = Plans(task_problem)
    greatest = -math.inf
    left: list[tuple[Tree, list[Range]]] = [(tree, plans.everything())]
    while left:
        node, ranges = left.pop()
        if isinstance(node, Leaf):
            greatest = max(greatest, value_within(task_problem, plans, node.prices, ranges)[0])
            continue
        low, high = ranges[node.task]
        if not low < node.offset < high:
            raise ModelError(
                f"certificate: a branch must divide the completions {low} to {high - 1} of task {node.task}, "
                f"got {node.offset}"
            )
        left += [(node.before, _narrowed(ranges, node.task, (low, node.offset)))]
        left += [(node.after, _narrowed(ranges, node.task, (node.offset, high)))]
    return greatest


def value_within(
    task_problem: Problem, plans: Plans, prices: np.ndarray, ranges: list[Range]
) -> tuple[float, Offers, list[Plan]]:
    """(D of the prices over schedules with these completions, the pieces, the best plan of each task).

    Minus infinity where a task has no completion left: there is no such schedule.
    """
    p = np.maximum(np.nan_to_num(prices), 0.0)
    pieces = plans.pieces(p)
    size, price = pieces.size.tolist(), pieces.price.tolist()
    total = float((p * task_problem.capacity).sum())
    found = []
    for i, task in enumerate(plans.tasks):
        plan = plans.best(i, ranges[i], size[i][task.first :], price[i][task.first :])
        if plan is None:
            return -math.inf, pieces, []
        total += plan.surplus
        found.append(plan)
    return total, pieces, found


def _narrowed(ranges: list[Range], task: int, to: Range) -> list[Range]:
    return [to if i == task else within for i, within in enumerate(ranges)]
