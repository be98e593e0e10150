"""Best completion of one job over a window of slots: number of workers per slot [OASiS, Algorithm 2].

``F_t(w) = min over y of F_{t-1}(w - y) + cost_t(y)`` is the least cost of w worker-slots by the end of slot t. One pass
forward gives every completion: its payoff is utility(t) - F_t(need). Only a positive payoff counts, so whatever cannot
lead to one better than the best so far is left out: completions, whole slots, and states of F (branch and bound;
exact).

Differs from the paper: worker-slots are planned instead of chunks, which is never dearer (OASiS constraint 2 lets a
chunk straddle slots); one forward pass replaces the enumeration of the completion times; where it would have to
remember more than MAX_STATES states, the rest of the search is that of `near_best`. Ties: the earliest completion, an
improvement counts above TOLERANCE; the fewest workers in the later slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

TOLERANCE = 1e-12  # utility; a gain of less is none
SAFE = 1 - 1e-9  # a bound is a sum in another order than the cost it bounds
CACHE = 32_768  # cells of one step that stay in the cache
MAX_STATES = 32_000_000  # of F that are remembered, over all slots: 256 MB
FIRST_BLOCK = 8  # slots
CLOSE = 1e-3  # of the payoff; near_best stops at a smaller gain

Curves = Callable[[int, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Best:
    """A completion: its slot within the window, workers per slot up to it, and what it costs."""

    last: int
    workers: np.ndarray  # [slot]
    cost: float
    payoff: float


def best_completion(
    need: int, utility: np.ndarray, curves: Curves, least_unit: float = 0.0, prune: bool = True, soon: bool = False
) -> Best | None:
    """The completion with the highest payoff, or None when no payoff is positive.

    need        worker-slots, >= 1
    utility     of a completion in each slot of the window, non-increasing
    curves      (first, past) -> cost of 0..most workers [slot, workers], and the marginal costs of a convex lower bound
                [slot, worker], for the slots first <= t < past; asked for in the blocks of `blocks`
    least_unit  a lower bound of the cost of one worker in any slot
    soon        the first completion with a positive payoff is enough
    """
    slots = len(utility)
    least = SAFE * least_unit * np.arange(need, -1, -1)  # of the work that is left after 0, 1, ... worker-slots
    steps: list[np.ndarray] = [np.zeros(1)]  # F_t of the states kept, before each slot
    costs: list[np.ndarray] = []
    payoff, last, total = TOLERANCE, -1, np.inf
    cheapest = np.empty(0)
    remembered, rough = 0, None
    for first, past in blocks(slots):
        if prune and utility[first] - least[0] <= payoff:
            break
        cost, marginal = curves(first, past)
        end = past
        if prune:
            cheapest = _smallest(np.concatenate((cheapest, marginal.ravel())), need)
            if past == slots or utility[past] - least[0] <= payoff:  # nothing after this block can win
                bound = SAFE * cheapest.sum() if len(cheapest) == need else np.inf
                winners = np.flatnonzero(utility[first:past] - bound > payoff)
                end = first + int(winners[-1]) + 1 if len(winners) else first
        for t in range(first, end):
            before, row = steps[-1], cost[t - first]
            most = int(np.searchsorted(row, np.inf)) - 1  # costs rise, infinite beyond capacity
            if prune:
                most = min(most, _last(row[: need + 1] + least[: len(row)] < utility[t] - payoff))
            after = _step(before, row[: most + 1], need) if most > 0 else before
            if len(after) > need and utility[t] - after[need] > payoff + (TOLERANCE if last >= 0 else 0.0):
                payoff, last, total = float(utility[t] - after[need]), t, float(after[need])
                if soon:
                    return Best(last, _trace_back([*steps, after], [*costs, row], last, need), total, payoff)
            if prune and t + 1 < slots:
                after = after[: _last(after + least[: len(after)] < utility[t + 1] - payoff) + 1]
            costs.append(row)
            steps.append(after)
            remembered += len(after)
            if not len(after) or remembered > MAX_STATES:
                break
        if remembered > MAX_STATES:
            rough = near_best(need, utility, curves, least_unit)
            break
        if end < past or not len(steps[-1]):
            break
    if rough is not None and rough.payoff > payoff:
        return rough
    return Best(last, _trace_back(steps, costs, last, need), total, payoff) if last >= 0 else None


def near_best(need: int, utility: np.ndarray, curves: Curves, least_unit: float = 0.0) -> Best | None:
    """A completion whose payoff is close to the highest, positive or not; None when no slot completes the job.

    For explanations: the cheapest workers of the convex lower bound. It errs by rounding parameter servers up, and by
    CLOSE. Arguments as for `best_completion`.
    """
    least = need * least_unit
    costs: list[np.ndarray] = []
    marginals: list[np.ndarray] = []
    kept: list[np.ndarray] = []  # the cheapest workers, in pieces
    count, dearest = 0, np.inf
    payoff, last = -np.inf, -1
    for first, past in blocks(len(utility)):
        if utility[first] - least <= payoff + CLOSE * abs(payoff):
            break
        cost, marginal = curves(first, past)
        costs.append(cost)
        marginals.append(marginal)
        for t, row in enumerate(marginal, first):
            fresh = row[row < dearest]
            kept.append(fresh)
            count += len(fresh)
            if count < need or not len(fresh):  # nothing gets cheaper, and utility does not rise
                continue
            cheapest = _smallest(np.concatenate(kept), need)
            kept, count, dearest = [cheapest], need, cheapest.max()
            if (found := utility[t] - cheapest.sum()) > payoff + TOLERANCE:
                payoff, last = float(found), t
    if last < 0:
        return None
    workers = _spread(np.concatenate(marginals)[: last + 1], need)
    rows = chain.from_iterable(costs)
    total = float(sum(cost[count] for cost, count in zip(rows, workers.tolist(), strict=False) if count))
    return Best(last, workers, total, float(utility[last] - total))


def _spread(marginal: np.ndarray, need: int) -> np.ndarray:
    """Number of the `need` smallest values in each row; of equal ones the first."""
    values = marginal.ravel()
    dearest = np.partition(values, need - 1)[need - 1]
    counts: np.ndarray = (marginal < dearest).sum(axis=1)
    equal = np.flatnonzero(values == dearest)[: need - counts.sum()]
    return counts + np.bincount(equal // marginal.shape[1], minlength=len(marginal))


def blocks(slots: int) -> Iterator[tuple[int, int]]:
    """The slots in pieces (first, past) that double, so that a near completion asks for few."""
    first, size = 0, FIRST_BLOCK
    while first < slots:
        yield first, min(slots, first + size)
        first, size = first + size, size * 2


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    finite = values[values < np.inf]
    return np.partition(finite, count - 1)[:count] if len(finite) > count else finite


def _last(mask: np.ndarray) -> int:
    """Position of the last true element, -1 if there is none."""
    return len(mask) - 1 - int(np.argmax(mask[::-1])) if mask.any() else -1


def _step(before: np.ndarray, cost: np.ndarray, need: int) -> np.ndarray:
    """F_t from F_{t-1} and the finite costs of the slot, up to what can be reached."""
    most = len(cost) - 1
    reach = min(need, len(before) - 1 + most)
    padded = np.full(most + reach + 1, np.inf)
    padded[most : most + len(before)] = before
    after = np.empty(reach + 1)
    stride = padded.itemsize
    width = max(64, CACHE // (most + 1))
    for low in range(0, reach + 1, width):
        high = min(reach + 1, low + width)
        # shifted[y, w] = F_{t-1}(low + w - y), a view of `padded`
        shifted = np.ndarray((most + 1, high - low), padded.dtype, padded, (most + low) * stride, (-stride, stride))
        np.minimum.reduce(shifted + cost[:, None], axis=0, out=after[low:high])
    return after


def _trace_back(steps: list[np.ndarray], costs: list[np.ndarray], last: int, need: int) -> np.ndarray:
    """Workers per slot of F_last(need): the first of the equally cheap choices, with the fewest in the later slot."""
    workers = np.zeros(last + 1, dtype=np.int64)
    left = need
    for t in range(last, -1, -1):
        before, cost = steps[t], costs[t]
        low = max(0, left - (len(before) - 1))
        high = min(left, len(cost) - 1)
        totals = before[left - high : left - low + 1][::-1] + cost[low : high + 1]
        workers[t] = low + int(np.argmin(totals))
        left -= int(workers[t])
    return workers
