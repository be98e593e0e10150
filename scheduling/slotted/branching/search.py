"""Search for a tree with a small bound: branch and price.

The leaf with the greatest bound is divided next. Of its tasks the one is asked whose fractional answer in the linear
program is worth most. Prices of a child begin with those of its parent and follow the duals of the linear program at
half the way, which keeps them from swinging. It stops after a fixed amount of work, so that equal problems have equal
bounds on every machine; whenever it stops, the tree proves its bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from scheduling.slotted.branching.master import Master, Shares
from scheduling.slotted.branching.plans import Plans, Range
from scheduling.slotted.branching.tree import Branch, Leaf, Tree, value_within
from scheduling.slotted.certificate_problem import Problem

MAX_WORK = 80_000  # tasks x slots that are priced, in all prices together
ROOT_ROUNDS = 20  # of prices, before the first branch
ROUNDS = 3  # in a child
MAX_LAST_ROUNDS = 40  # in a leaf that no question divides further
CLOSE = 3e-4  # relative distance of a bound from its linear program at which prices are good enough
WHOLE = 1e-5  # a share that is so close to 0 or 1 is that


@dataclass
class _Node:
    """Leaf so far. question: (task, offset), and then its two children."""

    ranges: list[Range]
    bound: float
    prices: np.ndarray
    shares: list[dict[int, float]]
    question: tuple[int, int] | None = None
    children: list[_Node] = field(default_factory=list)

    def tree(self) -> Tree:
        if self.question is None:
            return Leaf(self.prices)
        before, after = self.children
        return Branch(*self.question, before.tree(), after.tree())


class Search:
    """The state of a search."""

    def __init__(self, task_problem: Problem, max_work: int = MAX_WORK) -> None:
        self.problem, self.left = task_problem, max_work
        self.plans = Plans(task_problem)
        self.master = Master(task_problem, self.plans)

    def affordable(self) -> bool:
        """True if there is something to price, and the work suffices for the prices of the root."""
        return 0 < ROOT_ROUNDS * self.plans.cells <= self.left

    def run(self, prices: np.ndarray, enough: float) -> tuple[float, Tree]:
        """(bound, tree) from these prices on; stops early at a bound of `enough`."""
        root = self._node(_Node(self.plans.everything(), math.inf, prices, []), ROOT_ROUNDS)
        order: list[tuple[float, int, _Node]] = [(-root.bound, 0, root)]
        settled, count = -math.inf, 1
        while order and self.left > 0 and -order[0][0] > max(enough, settled):
            _, _, node = heappop(order)
            question = self._question(node)
            if question is None:
                settled = max(settled, self._node(node, MAX_LAST_ROUNDS).bound)
                continue
            task, offset = question
            low, high = node.ranges[task]
            node.question = question
            for to in ((low, offset), (offset, high)):
                ranges = [*node.ranges]
                ranges[task] = to
                child = self._node(_Node(ranges, node.bound, node.prices, node.shares), ROUNDS)
                node.children.append(child)
                heappush(order, (-child.bound, count, child))
                count += 1
        return max([settled, *(-bound for bound, _, _ in order)]), root.tree()

    def _node(self, node: _Node, rounds: int) -> _Node:
        """The node with the best prices that n rounds find."""
        self.master.allow(node.ranges)
        prices = node.prices
        for _ in range(rounds):
            value, pieces, found = value_within(self.problem, self.plans, prices, node.ranges)
            self.left -= self.plans.cells
            if value <= node.bound:
                node.bound, node.prices = value, prices
            if value == -math.inf:
                break
            self.master.add(pieces, found)
            solved: Shares | None = self.master.solve()
            if solved is None:
                break
            node.shares = solved.shares
            if node.bound - solved.value <= CLOSE * abs(node.bound):
                break
            prices = (solved.prices + node.prices) / 2
        return node

    def _question(self, node: _Node) -> tuple[int, int] | None:
        """(task, offset) whose answer is least certain, by what it is worth; None if all answers are whole."""
        best, question = 1e-7, None
        for i, all_shares in enumerate(node.shares):
            window, worths = self.plans.tasks[i].window, self.plans.worths[i]
            _, high = node.ranges[i]
            shares = {k: share for k, share in all_shares.items() if k < window}
            done = sum(shares.values())
            if WHOLE < done < 1 - WHOLE and high > window:
                value = min(done, 1 - done) * worths[min(shares)]
                if value > best:
                    best, question = value, (i, window)
            ordered = sorted(shares)
            for place in range(1, len(ordered)):
                early, late = ([(shares[k], worths[k]) for k in part] for part in (ordered[:place], ordered[place:]))
                before, after = (sum(share for share, _ in part) for part in (early, late))
                means = [sum(s * w for s, w in part) / sum(s for s, _ in part) for part in (early, late)]
                value = min(before, after) * (means[0] - means[1])
                if value > best:
                    best, question = value, (i, ordered[place - 1] + 1)
        return question


def search(
    task_problem: Problem, prices: np.ndarray, enough: float = 0.0, max_work: int = MAX_WORK
) -> tuple[float, Tree] | None:
    """(bound, the tree that proves it), from the prices of a relaxation; None without tasks, or with too many."""
    found = Search(task_problem, max_work)
    return found.run(prices, enough) if found.affordable() else None
