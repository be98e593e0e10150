"""Counterfactuals: the smallest changes to a job that reverse its decision.

They are found with quotes of the scheduler in its state at that decision. Each counterfactual changes one property
alone, and no earlier decision. For a rejected job: the least priority, the least target, the smallest number of workers
above its own, and the first later arrival slot with which it is admitted. For an admitted job: the largest change of
the first three in the opposite direction that keeps the admission, and the first later arrival slot with which it is
rejected. The answer is monotone in the first three. Priority and target are found by steps to the value at which the
last schedule found breaks even, workers by bisection; arrivals are tried in turn. A value whose search exceeds the time
limit is marked (`searched` = False). Priority and target are stated as the least number of three significant
digits that admits the job.

If the price bounds are estimated from the job itself, they are estimated again for each priority and target. Bounds
that are `clairvoyant` also affected decisions about earlier jobs, so they stay unchanged; the sentence says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from scheduling.kernel.quotes import OutOfTime, PriceQuote
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.decision import Reason
from scheduling.model.training_models import most_workers
from scheduling.model.utility import arrival_slot, utility_at
from scheduling.model.values import Job
from scheduling.reporting.quantities import counted, duration

DIGITS = 3  # significant digits of a stated priority or target
MAX_STEPS = 2  # of the last digit, by which a value that is found as closely as CLOSE may be too large
MAX_PRIORITY = 1e6  # times the job's own: beyond, no priority helps
CLOSE = 1e-3  # relative, of a priority
CLOSE_SLOTS = 0.01  # of a target
MAX_LATER = 48  # slots that an arrival is put off by
MAX_MORE = 8  # times the job's own workers


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Smallest change that reverses the decision, or largest that keeps it: `value` in place of `actual`.

    value: None if there is none within the limits, or if the search exceeded its time limit.
    """

    what: str  # priority | target_slots | workers | arrival_ms
    actual: float
    value: float | None
    admitted: bool  # at `value`
    searched: bool = True  # False: the search exceeded its time limit
    # True: with the clairvoyant price bounds of the run, which are not estimated again for the changed job
    same_bounds: bool = False


def counterfactuals(
    scheduler: BaseScheduler, index: int, reason: Reason | None = None, until: float = math.inf
) -> list[Counterfactual]:
    """Counterfactuals of a job, by its index, at its arrival. The scheduler has its state of that time (`assume`).

    reason: of its decision, if known. until: a value of time.perf_counter, after which the search ends; quick searches
    go first, and the remaining ones share the time. The scheduler must not be used afterwards.
    """
    scheduler.deadline.set(until)
    job = scheduler.jobs[index]
    asked = _Asked(scheduler, index, job, PriceQuote.of(reason or scheduler.explain(job.arrival_ms, job)))
    found = {}
    for left, (what, (actual, search)) in zip(range(len(_SEARCHES), 0, -1), _SEARCHES.items(), strict=True):
        own = actual(asked)
        if own is None:
            continue
        now = time.perf_counter()
        scheduler.deadline.set(now + (until - now) / left)
        try:
            value, admitted = search(asked)
        except OutOfTime:
            found[what] = Counterfactual(what, own, None, not asked.admitted, searched=False)
        else:
            found[what] = Counterfactual(what, own, value, admitted, same_bounds=asked.keeps_bounds(what))
        scheduler.with_record(index, job)
    return [found[what] for what in _SENTENCES if what in found]


def sentence(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    """English sentence with units."""
    if not found.searched:
        return f"Search not completed within the time limit: {_NAMES[found.what]}."
    text = _SENTENCES[found.what](found, was_admitted, slot_ms)
    return f"With unchanged price bounds: {text[0].lower()}{text[1:]}" if found.same_bounds else text


def _priority_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        return f"Not admitted with any priority up to {MAX_PRIORITY:,.0f} times its own {_written(found.actual)}."
    if was_admitted:
        return f"Admitted with a priority as low as {_written(found.value)}; it has {_written(found.actual)}."
    return f"Admitted with a priority of at least {_written(found.value)}; it has {_written(found.actual)}."


def _target_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        return f"Not admitted with any target above its {_slots(found.actual)}."
    if was_admitted:
        return f"Admitted with a target as short as {_slots(found.value)}; it has {_written(found.actual)}."
    return f"Admitted with a target of at least {_slots(found.value)}; it has {_written(found.actual)}."


def _written(value: float) -> str:
    """Four significant digits, without an exponent from 10,000 on."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if rounded >= 1e4 else f"{value:.4g}"


def _slots(target: float) -> str:
    text = _written(target)
    return f"{text} slot" if text == "1" else f"{text} slots"


def _workers_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        return f"Not admitted with any number of concurrent workers up to {MAX_MORE:,} times its {found.actual:.0f}."
    if was_admitted:
        return f"Admitted with as few as {counted(round(found.value), 'concurrent worker')}; it has {found.actual:.0f}."
    return (
        f"Admitted with at least {counted(round(found.value), 'concurrent worker')}; it has at most {found.actual:.0f}."
    )


_ALONE = "provided that no other job arrives in between"  # the quotes use the state at the job's own arrival


def _arrival_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        outcome = "rejected" if was_admitted else "admitted"
        return f"Not {outcome} on arrival in any of the {MAX_LATER:,} slots after its own, up to the horizon, {_ALONE}."
    outcome = "Rejected" if was_admitted else "Admitted"
    return f"{outcome} on arrival {duration(found.value - found.actual)} later, {_ALONE}."


_NAMES = {
    "priority": "smallest priority",
    "target_slots": "target that changes the decision",
    "workers": "smallest number of workers",
    "arrival_ms": "later arrival",
}
_SENTENCES = {
    "priority": _priority_text,
    "target_slots": _target_text,
    "workers": _workers_text,
    "arrival_ms": _arrival_text,
}


class _Asked:
    """Decisions about variants of a job."""

    def __init__(self, scheduler: BaseScheduler, index: int, job: Job, own: PriceQuote) -> None:
        self.scheduler, self.index, self.job, self.own, self.admitted = scheduler, index, job, own, own.admitted
        self.slot_ms = scheduler.cluster.slot_ms
        self.first = arrival_slot(job.arrival_ms, self.slot_ms)

    def with_utility(self, **changes: Any) -> PriceQuote:
        assert self.job.utility is not None
        changed = replace(self.job, utility=replace(self.job.utility, **changes))
        self.scheduler.with_record(self.index, changed)
        return self.scheduler.quote(changed.arrival_ms, changed)

    def keeps_bounds(self, what: str) -> bool:
        return self.scheduler.clairvoyant and what in ("priority", "target_slots")

    def with_workers(self, most: int) -> bool:
        return self.scheduler.quote(self.job.arrival_ms, self.job, most).admitted


Found = tuple[float | None, bool]  # the value, and whether the job is admitted at it


def _own_priority(asked: _Asked) -> float | None:
    return asked.job.utility.priority if asked.job.utility else None


def _priority(asked: _Asked) -> Found:
    utility = asked.job.utility
    assert utility is not None
    own = math.log(utility.priority)

    def ask(x: float) -> tuple[bool, float]:
        quote = asked.own if x == own else asked.with_utility(priority=math.exp(x))
        if not quote.cost < math.inf:
            return quote.admitted, math.inf
        # the utility of a schedule grows in proportion
        worth = utility_at(utility, quote.finish_slot - asked.first)
        return quote.admitted, own + _log(quote.cost / worth) if worth else math.inf

    value = _least(ask, own, own + math.log(MAX_PRIORITY) * (-1 if asked.admitted else 1), CLOSE)
    if value is None or value == own:
        return None if value is None else utility.priority, True
    if value == own - math.log(MAX_PRIORITY):
        return utility.priority / MAX_PRIORITY, True  # no search below it
    value = math.exp(value)
    stated = least_multiple(value, unit_of(value), lambda x: asked.with_utility(priority=x).admitted)
    return min(stated, utility.priority) if asked.admitted else stated, True


def _own_target(asked: _Asked) -> float | None:
    utility = asked.job.utility
    # otherwise the utility is the same at any time
    return utility.target_slots if utility and utility.sensitivity else None


def _target(asked: _Asked) -> Found:
    utility = asked.job.utility
    assert utility is not None

    def ask(x: float) -> tuple[bool, float]:
        quote = asked.own if x == utility.target_slots else asked.with_utility(target_slots=x)
        if quote.cost >= utility.priority:
            return quote.admitted, math.inf
        # priority / (1 + exp(sensitivity * late)) = cost
        spare = _log(utility.priority / quote.cost - 1) / utility.sensitivity if quote.cost else math.inf
        return quote.admitted, quote.finish_slot - asked.first - spare

    reach = max(float(asked.scheduler.horizon or 0) + 1, utility.target_slots)
    value = _least(ask, utility.target_slots, 0.0 if asked.admitted else reach, CLOSE_SLOTS)
    if value is None or value == utility.target_slots:
        return value, True
    unit = max(unit_of(value), CLOSE_SLOTS)
    stated = least_multiple(value, unit, lambda x: asked.with_utility(target_slots=x).admitted)
    return min(stated, utility.target_slots) if asked.admitted else stated, True


def _own_workers(asked: _Asked) -> float | None:
    return most_workers(asked.job, asked.scheduler.model.training(asked.scheduler, asked.scheduler.cluster))


def _workers(asked: _Asked) -> Found:
    own = int(_own_workers(asked) or 0)
    low, high = (1, own) if asked.admitted else (own + 1, own * MAX_MORE)
    if not asked.admitted and not asked.with_workers(high):
        return None, True
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if asked.with_workers(middle) else (middle + 1, high)
    return high, True


def _arrival(asked: _Asked) -> Found:
    """First later slot at which a rejected job is admitted, or an admitted one is not."""
    last = min(asked.first + MAX_LATER, (asked.scheduler.horizon or asked.first) - 1)
    later = range(asked.first + 1, last + 1)
    for slot, admitted in zip(later, asked.scheduler.admits_later(asked.job, later), strict=True):
        if admitted != asked.admitted:
            return slot * asked.slot_ms, admitted
    return None, not asked.admitted


_SEARCHES: dict[str, tuple[Callable[[_Asked], float | None], Callable[[_Asked], Found]]] = {  # the quick ones first
    "arrival_ms": (lambda asked: asked.job.arrival_ms, _arrival),
    "workers": (_own_workers, _workers),
    "target_slots": (_own_target, _target),
    "priority": (_own_priority, _priority),
}


def _least(ask: Callable[[float], tuple[bool, float]], own: float, limit: float, close: float) -> float | None:
    """The least x between own and limit at which the job is admitted, or up to `close` more; None if at neither.

    ask(x): whether the job is admitted at x, and the value at which the schedule found at x breaks even, at the prices
    that apply at x.
    """
    held, even = ask(own)
    low, high, known = (limit, own, False) if held else (own, limit, True)  # known: that it is not admitted at `low`
    if not held:
        for probe in (min(even + close / 4, limit), limit):
            held, even = ask(probe)
            high, low = (probe, low) if held else (high, probe)
            if held:
                break
        else:
            return None
    slow = False  # the last step left more than half of what lies between
    while high - low > close:
        width = high - low
        probe = min(even + close / 4, high - close)
        if slow or probe <= low:
            probe = (low + high) / 2 if known or probe > low else low
        held, found = ask(probe)
        if held and probe == low:
            return low
        known |= not held
        if held:
            high, even = probe, found
        else:
            low = probe
        slow = not slow and high - low > width / 2
    return high


def least_multiple(value: float, unit: float, holds: Callable[[float], bool]) -> float:
    """Least multiple of the unit with which the job is admitted; it is admitted with `value`, which is near."""
    steps = max(1, math.ceil(value / unit - 1e-9))
    for _ in range(MAX_STEPS):
        if steps == 1 or not holds(_multiple(steps - 1, unit)):
            break
        steps -= 1
    return _multiple(steps, unit)


def unit_of(value: float) -> float:
    """Place value of the last of DIGITS significant digits."""
    return 10.0 ** (math.floor(math.log10(value)) - DIGITS + 1) if value > 0 else 0.0


def _multiple(steps: int, unit: float) -> float:
    return float(f"{steps * unit:.{DIGITS}g}")


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
