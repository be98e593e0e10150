"""Best completion of one job over a window, with one option per slot [PD-ORS, Algorithms 2 and 3].

In each slot at most one option (a mode and a number of workers) is taken; it does `gain` of the work at a cost. The
least cost of the whole work by the end of slot t is a dynamic program over the work done, ``F_t(w) = min over options
of F_{t-1}(max(0, w - gain)) + cost``, and the payoff of completing in slot t is utility(t) - F_t(need).

The states are few thousand and the options a hundred, so most are left out first. Per completion, the lower convex
hulls of the slots' options, merged by slope, bound the cost from below, and rounding the last piece up gives a plan:
the program considers only completions whose bound beats the best plan, and in them only options (and states) that cost
at most the gap more than the slope at which the bound is tight. What is left out cannot be part of a better plan, so
the result is exact.

Slots in which the cluster is in the same state are of one kind and share their options. Options may begin as lower
bounds of their cost: they are evaluated, kind by kind, when a plan that could win would use them.

Differs from the paper: worker counts are enumerated instead of samples.
Ties: the earliest completion, an improvement counts above TOLERANCE; the fewest workers in the later slot, on one
machine rather than on several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scheduling.slotted.solvers.hulls import hulls, undominated

TOLERANCE = 1e-12  # utility; a gain of less is none
SAFE = 1e-9  # relative; a bound is a sum in another order than the cost it bounds
ROUNDING = 1e-14  # relative, of a difference of utilities
NOTHING = -1  # no option
NO_WORK = np.zeros(1)  # and no price
BEYOND = np.full(1, np.inf)  # cost of a state out of reach
CACHE = 32_768  # cells of one step that stay in the cache
MIN_WIDTH = 64  # states evaluated together
FIRST_TRY = 1 / 4  # of the gap: an optimum is mostly this close to its bound

Row = tuple[np.ndarray, np.ndarray]  # gain and cost of the options of one kind


@dataclass(frozen=True, slots=True)
class Plan:
    """A completion: its slot within the window, the option (column) of each slot up to it, and what it costs."""

    last: int
    options: np.ndarray  # [slot], NOTHING where the job does not run
    cost: float
    payoff: float


class Options:
    """The options of every kind of slot, [kind, option], in the order in which ties are resolved."""

    def __init__(
        self,
        kind: np.ndarray,
        gain: np.ndarray,
        cost: np.ndarray,
        guessed: np.ndarray,
        evaluate: Callable[[int], Row] | None = None,
        known: np.ndarray | None = None,
    ) -> None:
        """kind      [slot]
        gain      integers; the work that an option does
        cost      infinite where there is no such option
        guessed   [option] whether the cost is a lower bound until `evaluate(kind)` has computed gains and costs
        known     [kind] where that is not necessary
        """
        self.kind, self.gain, self.full_cost, self.guessed, self.evaluate = kind, gain, cost, guessed, evaluate
        kinds = len(gain)
        self.known = np.full(kinds, evaluate is None or not guessed.any()) if known is None else known.copy()
        self.cost = np.empty(cost.shape)  # infinite for options that another beats, too
        self.count = np.cumsum(kind[:, None] == np.arange(kinds), axis=0)  # slots of each kind up to each slot
        none, no_index = np.empty(0), np.empty(0, dtype=np.int64)
        # the edges of all lower convex hulls by slope: slope, step and
        # extra cost, the option that they lead to, the kind
        self.slope, self.step, self.extra, self.option, self.owner = none, none, none, no_index, no_index
        self._wrap(np.arange(kinds))

    def learn(self, kinds: np.ndarray) -> bool:
        """Evaluation of those kinds that are still unknown; True if there were any."""
        kinds = kinds[~self.known[kinds]]
        if self.evaluate is None or not len(kinds):
            return False
        changed = []
        for kind in kinds.tolist():
            gain, cost = self.evaluate(kind)
            if not (np.array_equal(cost, self.full_cost[kind]) and np.array_equal(gain, self.gain[kind])):
                self.gain[kind], self.full_cost[kind] = gain, cost
                changed.append(kind)
        self.known[kinds] = True
        if changed:
            self.change(np.array(changed))
        return True

    def change(self, kinds: np.ndarray) -> None:
        """Notification that gains or full costs of those kinds have changed."""
        self._wrap(kinds)

    def skip(self, slots: int) -> None:
        """Shift of the start of the window by a number of slots."""
        self.kind, self.count = self.kind[slots:], self.count[slots:] - self.count[slots - 1]

    def bounds(self, need: float) -> tuple[np.ndarray, np.ndarray]:
        """[slot] least cost of the work by the end of each slot if options could be split, and the split edge."""
        slots = len(self.kind)
        if not len(self.slope):
            return np.full(slots, np.inf), np.zeros(slots, dtype=np.int64)
        count = self.count[:, self.owner]
        done, paid = np.cumsum(self.step * count, axis=1), np.cumsum(self.extra * count, axis=1)
        split = (done < need).sum(axis=1)
        reached = split < len(self.slope)
        split = np.where(reached, split, 0)
        rows = np.arange(slots)
        bound = paid[rows, split] - self.slope[split] * (done[rows, split] - need)
        return np.where(reached, bound, np.inf), split

    def rounded(self, need: float, last: int, split: int) -> tuple[float, np.ndarray]:
        """Cost, options [slot] of the bound's plan with missing work done by one slot's cheapest larger option."""
        kind = self.kind[: last + 1]
        chosen = np.full(len(self.gain), NOTHING, dtype=np.int64)
        chosen[self.owner[:split]] = self.option[:split]  # later edges of a kind overwrite earlier ones
        options = chosen[kind]
        missing = need - np.where(options >= 0, self.gain[kind, options], 0.0).sum()
        own = np.flatnonzero(kind == self.owner[split])
        options[own[: int(missing / self.step[split])]] = self.option[split]
        gain = np.where(options >= 0, self.gain[kind, options], 0.0)
        cost = np.where(options >= 0, self.cost[kind, options], 0.0)
        missing = need - gain.sum()
        if missing <= 0:
            return float(cost.sum()), options
        extra = np.where(self.gain[kind] >= gain[:, None] + missing, self.cost[kind], np.inf) - cost[:, None]
        slot, option = divmod(int(extra.argmin()), extra.shape[1])
        options[slot] = option
        return float(cost.sum() + extra[slot, option]), options

    def used(self, last: int, split: int) -> np.ndarray:
        """Kinds not known whose guessed options the bound of that completion rests on."""
        edges = np.arange(len(self.owner)) <= split
        edges &= self.guessed[self.option] & ~self.known[self.owner] & (self.count[last, self.owner] > 0)
        return np.unique(self.owner[edges])

    def _wrap(self, kinds: np.ndarray) -> None:
        """Reduction of the options of those classes to the undominated ones, with their edges as lower convex hulls."""
        order, gain, cost = undominated(self.gain[kinds], self.full_cost[kinds])
        self.cost[kinds[:, None], order] = cost
        found = hulls(gain, cost)
        stay = ~np.isin(self.owner, kinds) if len(self.owner) else np.empty(0, dtype=bool)
        edges = [(self.slope[stay], self.step[stay], self.extra[stay], self.option[stay], self.owner[stay])]
        edges += [(slope, step, extra, order[row, place], kinds[row]) for slope, step, extra, place, row in found]
        slope, step, extra, option, owner = (np.concatenate(column) for column in zip(*edges, strict=True))
        by_slope = np.lexsort((owner, slope))
        self.slope, self.step, self.extra = slope[by_slope], step[by_slope], extra[by_slope]
        self.option, self.owner = option[by_slope], owner[by_slope]


def best_plan(need: int, utility: np.ndarray, options: Options, least: float = TOLERANCE) -> Plan | None:
    """The plan with the highest payoff above `least`, or None.

    need     work, >= 1
    utility  of a completion in each slot of the window, non-increasing
    """
    if not len(utility) or not options.gain.size:
        return None
    while True:
        bound, split = options.bounds(need)
        hopes = utility - bound * (1 - SAFE)
        top = int(hopes.argmax())
        if not hopes[top] > least:
            return None
        if not options.learn(options.used(top, int(split[top]))):
            break
    while True:
        found = _search(need, utility, options, hopes, split, least)
        if not isinstance(found, np.ndarray):
            return found
        options.learn(found)
        bound, split = options.bounds(need)
        hopes = utility - bound * (1 - SAFE)


def near_plan(need: int, utility: np.ndarray, options: Options) -> Plan | None:
    """A plan whose payoff is close to the highest, positive or not; None when no slot completes the job."""
    if not len(utility) or not options.gain.size:
        return None
    while True:
        bound, split = options.bounds(need)
        best: Plan | None = None
        if not np.isfinite(bound).any():
            return None
        top = int((utility - bound).argmax())
        if not options.learn(options.used(top, int(split[top]))):
            break
    for t in np.argsort(-(utility - bound), kind="stable").tolist():
        if (best is not None and utility[t] - bound[t] <= best.payoff) or not np.isfinite(bound[t]):
            break
        total, chosen = options.rounded(need, t, int(split[t]))
        if not options.known[options.kind[: t + 1][chosen >= 0]].all():
            options.learn(np.unique(options.kind[: t + 1][chosen >= 0]))
            return near_plan(need, utility, options)
        if np.isfinite(total) and (best is None or utility[t] - total > best.payoff + TOLERANCE):
            best = Plan(t, chosen, total, float(utility[t] - total))
    return best


def _search(
    need: int, utility: np.ndarray, options: Options, hopes: np.ndarray, split: np.ndarray, least: float
) -> Plan | None | np.ndarray:
    """The best plan, or the kinds that must be known before there is one."""
    floor = least
    order = np.argsort(-hopes, kind="stable").tolist()
    for t in order:  # good plans first, so that the programs have little to do
        if not hopes[t] > floor:
            break
        total, chosen = options.rounded(need, t, int(split[t]))
        if options.known[options.kind[: t + 1][chosen >= 0]].all():
            floor = max(floor, float(utility[t] - total))
    best: Plan | None = None
    done: set[int] = set()
    for top in order:
        if hopes[top] < floor - TOLERANCE or not hopes[top] > least:
            break
        if top in done:
            continue
        slope = float(options.slope[split[top]])
        # completions whose bounds have the same slope share a program
        group = sorted(
            t for t in order if hopes[t] >= floor - TOLERANCE and hopes[t] > least and options.slope[split[t]] == slope
        )
        done.update(group)
        found = _program(need, group, utility, options, slope, floor, hopes[group] - floor + ROUNDING * utility[group])
        if isinstance(found, np.ndarray):
            return found
        if found is None:
            continue
        better = found.payoff > (least if best is None else best.payoff + TOLERANCE)
        if better or (best is not None and found.last < best.last and found.payoff >= best.payoff - TOLERANCE):
            best = found
            floor = max(floor, found.payoff)
    return best


def _program(
    need: int, ends: list[int], utility: np.ndarray, options: Options, slope: float, floor: float, gaps: np.ndarray
) -> Plan | None | np.ndarray:
    """The best plan that ends in one of those slots; None where every plan is above its bound + gap.

    The kinds that must be known first, if there are any. Tries a part of the gap first: a plan within it is the best.
    slope  at which the bounds of all ends are tight
    floor  a payoff that is not enough
    gaps   how much more the bounds allow
    """
    kind = options.kind[: ends[-1] + 1]
    present = np.unique(kind)
    reduced = options.cost - slope * options.gain  # infinite where there is no option
    base = np.minimum(reduced.min(axis=1, initial=np.inf), 0.0)
    above = reduced - base[:, None]
    widest = max(float(gaps.max()), 0.0)
    rounding = SAFE * (widest + slope * need)
    short = widest * (1 - FIRST_TRY)  # what is not tried of the gaps
    while True:
        margin = widest - short + rounding
        kept = above <= margin
        unknown = present[(kept[present] & options.guessed).any(axis=1) & ~options.known[present]]
        if len(unknown):
            return unknown
        found = _forward(need, ends, utility, kind, options.gain, options.cost, kept, base, slope, margin)
        if short <= 0 or (found is not None and found.payoff >= floor + short):  # what was not tried is worth less
            return found
        short = max(0.0, widest - 4 * (widest - short))


def _forward(
    need: int, ends: list[int], utility: np.ndarray, kind: np.ndarray, gain: np.ndarray, cost: np.ndarray,
    kept: np.ndarray, base: np.ndarray, slope: float, margin: float,
) -> Plan | None:  # fmt: skip
    """The program over the options kept, and the states from which the plan can stay within the margin."""
    kinds = kind[: ends[-1] + 1].tolist()
    columns = {k: np.flatnonzero(kept[k]) for k in set(kinds)}
    # work and price of the options of a kind; the first is that the job does not run
    works = {k: np.concatenate((NO_WORK, gain[k, own]), dtype=np.int64, casting="unsafe") for k, own in columns.items()}
    prices = {k: np.concatenate((NO_WORK, cost[k, own])) for k, own in columns.items()}
    most = {k: int(own.max()) for k, own in works.items()}
    rest = sum(most[k] for k in kinds)
    tilt = slope * np.arange(need + 1)
    low, before = 0, np.zeros(1)  # cost of the states low, low + 1, ... of the work done
    reach = 0
    steps = [(low, before)]
    floor = 0.0
    payoff, last = -np.inf, NOTHING
    ending = set(ends)
    for t, k in enumerate(kinds):
        rest -= most[k]
        reach = min(need, reach + most[k])
        first = max(0, need - rest)  # less work cannot be made up for
        if first > reach:
            break
        after = _step(before, first - low, reach - first + 1, works[k], prices[k])
        if reach == need:
            after[-1] = (_at_least(before)[_within(need - low - works[k], before)] + prices[k]).min()
        floor += base[k]
        live = after - tilt[first : reach + 1] - floor <= margin
        a = int(live.argmax())
        if not live[a]:
            break
        before = after[a : len(live) - int(live[::-1].argmax())]
        low = first + a
        reach = low + len(before) - 1
        steps.append((low, before))
        if reach == need and t in ending and utility[t] - before[-1] > payoff + (TOLERANCE if last >= 0 else 0.0):
            payoff, last = float(utility[t] - before[-1]), t
    if last < 0:
        return None
    chosen = np.full(last + 1, NOTHING, dtype=np.int64)
    left = need
    for t in range(last, -1, -1):
        low, before = steps[t]
        work, price = works[kinds[t]], prices[kinds[t]]
        if left == need:
            origin = _within(need - low - work, before)
            option = int((_at_least(before)[origin] + price).argmin())
            left = low + int(origin[option]) + int(before[origin[option] :].argmin())
        else:
            origin = np.minimum(np.maximum(left - low - work, -1), len(before))
            option = int((np.concatenate((before, BEYOND))[origin] + price).argmin())
            left -= int(work[option])
        if option:
            chosen[t] = columns[kinds[t]][option - 1]
    low, before = steps[last + 1]
    return Plan(last, chosen, float(before[need - low]), payoff)


def _step(before: np.ndarray, first: int, states: int, works: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """Least cost of states first, first + 1, ... from the previous ones and one option each; infinite: out of reach."""
    ahead = max(0, int(works.max()) - first)  # infinite costs before the first state, and after the last
    padded = np.full(ahead + max(len(before), first + states), np.inf)
    padded[ahead : ahead + len(before)] = before
    begin = ahead + first - works
    after = np.empty(states)
    width = max(MIN_WIDTH, CACHE // len(works))
    for low in range(0, states, width):
        high = min(states, low + width)
        # shifted[i] = padded[low + i :], as long as the piece
        shifted = np.ndarray(
            (len(padded) - high + 1, high - low), padded.dtype, padded, low * padded.itemsize, padded.strides * 2
        )
        total = shifted[begin]
        total += prices[:, None]
        np.minimum.reduce(total, axis=0, out=after[low:high])
    return after


def _at_least(before: np.ndarray) -> np.ndarray:
    """Minimum cost of a state of at least that work; infinite after the last."""
    return np.concatenate((np.minimum.accumulate(before[::-1])[::-1], BEYOND))


def _within(places: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Indices into `_at_least`, within its range: the first state also does what needs less work."""
    return np.minimum(np.maximum(places, 0), len(before))
