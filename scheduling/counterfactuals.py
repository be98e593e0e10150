"""What would have to be different for the answer to be the other one: asked of a scheduler that can quote, on the state as it was.

Each counterfactual changes one thing alone. For a job that was rejected: the least priority, the latest needed target, the fewest
workers at a time beyond its own, and the first later arrival at which it is admitted. For one that was admitted: how far each could
go the other way and it still is. The answer is monotone in the first three: priority and target are found by going where the
schedule at hand breaks even, workers by halving; arrivals are tried in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from scheduling.model import Job, Reason
from scheduling.reasons import duration
from scheduling.registry import BaseScheduler
from scheduling.training import most_workers
from scheduling.utility import arrival_slot

ADMITTED = "payoff_positive"
MOST_PRIORITY = 1e6  # times the job's own: beyond, no priority helps
CLOSE = 1e-3  # relative, of a priority
CLOSE_SLOTS = 0.01  # of a target
MOST_LATER = 48  # slots that an arrival is put off by
MOST_MORE = 8  # times the job's own workers


@dataclass(frozen=True)
class Counterfactual:
    """One thing that flips the answer, or keeps it to the last: `value` instead of `actual`; None when nothing within reach does."""

    what: str  # priority | target_slots | workers | arrival_ms
    actual: float
    value: float | None
    admitted: bool  # at `value`


def counterfactuals(scheduler: BaseScheduler, job: Job) -> list[Counterfactual]:
    """For a job at its own arrival. The scheduler stands as it stood then (`assume`)."""
    asked = _Asked(scheduler, job)
    admitted = asked.own.code == ADMITTED
    found = [_priority(asked, admitted), _target(asked, admitted), _workers(asked, admitted), _arrival(asked, admitted)]
    return [row for row in found if row is not None]


def sentence(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    """What it says in English, with units."""
    return _SENTENCES[found.what](found, was_admitted, slot_ms)


def _priority_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        return f"No priority up to {MOST_PRIORITY:,.0f} times its own {found.actual:.4g} would have had it admitted."
    if was_admitted:
        return f"It would still have been admitted with a priority of {found.value:.4g} instead of {found.actual:.4g}, but with no less."
    return f"It would have been admitted with a priority of {found.value:.4g} or more; it has {found.actual:.4g}."


def _target_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        return f"No later target than its {found.actual:.4g} slots would have had it admitted."
    if was_admitted:
        return f"It would still have been admitted with a target of {found.value:.4g} slots instead of {found.actual:.4g}."
    return f"It would have been admitted with a target of {found.value:.4g} slots or later; it has {found.actual:.4g}."


def _workers_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        return f"Not even {MOST_MORE} times its {found.actual:.0f} workers at a time would have had it admitted."
    if was_admitted:
        return f"It would still have been admitted with at most {found.value:.0f} of its {found.actual:.0f} workers at a time, but with no fewer."
    return f"It would have been admitted if {found.value:.0f} workers could run at a time; it has at most {found.actual:.0f}."


def _arrival_text(found: Counterfactual, was_admitted: bool, slot_ms: int) -> str:
    if found.value is None:
        outcome = "rejected" if was_admitted else "admitted"
        return f"In none of the {MOST_LATER} slots after its arrival would it have been {outcome}."
    outcome = "no longer have been admitted" if was_admitted else "have been admitted"
    return f"Had it arrived {duration(found.value - found.actual)} later, with the other jobs as they were, it would {outcome}."


_SENTENCES = {"priority": _priority_text, "target_slots": _target_text, "workers": _workers_text, "arrival_ms": _arrival_text}


class _Asked:
    """What would be said to a job like this one."""

    def __init__(self, scheduler: BaseScheduler, job: Job) -> None:
        self.scheduler, self.job = scheduler, job
        self.own = scheduler.quote(job.arrival_ms, job)

    def admits(self, job: Job, most_workers: int | None = None) -> bool:
        return self.scheduler.admits(job.arrival_ms, job, most_workers)

    def with_utility(self, **changes: Any) -> Reason:
        assert self.job.utility is not None
        changed = replace(self.job, utility=replace(self.job.utility, **changes))
        return self.scheduler.quote(changed.arrival_ms, changed)


def _priority(asked: _Asked, admitted: bool) -> Counterfactual | None:
    utility = asked.job.utility
    if utility is None:
        return None

    def ask(x: float) -> tuple[bool, float]:
        said = asked.own if x == own else asked.with_utility(priority=math.exp(x))
        worth, cost = said.values.get("utility", 0.0), said.values.get("cost", math.inf)
        return said.code == ADMITTED, x + _log(
            cost / worth
        ) if worth else math.inf  # what a schedule is worth grows in proportion

    own = math.log(utility.priority)
    value = _least(ask, own, own + math.log(MOST_PRIORITY) * (-1 if admitted else 1), CLOSE)
    exact = utility.priority if value == own else None if value is None else math.exp(value)
    return Counterfactual("priority", utility.priority, exact, True)


def _target(asked: _Asked, admitted: bool) -> Counterfactual | None:
    utility = asked.job.utility
    if utility is None or not utility.sensitivity:
        return None  # it is worth the same at any time
    first = arrival_slot(asked.job.arrival_ms, asked.scheduler.cluster.slot_ms)

    def ask(x: float) -> tuple[bool, float]:
        said = asked.own if x == utility.target_slots else asked.with_utility(target_slots=x)
        cost = said.values.get("cost", math.inf)
        if cost >= utility.priority:
            return said.code == ADMITTED, math.inf
        late = said.values["finish_slot"] - first - x
        # priority / (1 + exp(sensitivity * late)) = cost
        spare = _log(utility.priority / cost - 1) / utility.sensitivity if cost else math.inf
        return said.code == ADMITTED, x + late - spare

    reach = max(float(asked.scheduler.horizon or 0) + 1, utility.target_slots)
    value = _least(ask, utility.target_slots, 0.0 if admitted else reach, CLOSE_SLOTS)
    return Counterfactual("target_slots", utility.target_slots, value, True)


def _workers(asked: _Asked, admitted: bool) -> Counterfactual | None:
    own = most_workers(asked.job, asked.scheduler.model_on(asked.scheduler.cluster))
    if own is None:
        return None
    low, high = (1, own) if admitted else (own, own * MOST_MORE)
    if not asked.admits(asked.job, high):
        return Counterfactual("workers", own, None, True)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if asked.admits(asked.job, middle) else (middle + 1, high)
    return Counterfactual("workers", own, high, True)


def _arrival(asked: _Asked, admitted: bool) -> Counterfactual | None:
    """Rejected: the first later slot at which it is admitted. Admitted: the first at which it no longer is."""
    job, slot_ms = asked.job, asked.scheduler.cluster.slot_ms
    first = arrival_slot(job.arrival_ms, slot_ms)
    last = min(first + MOST_LATER, (asked.scheduler.horizon or first) - 1)
    for slot in range(first + 1, last + 1):
        if asked.admits(replace(job, arrival_ms=slot * slot_ms)) != admitted:
            return Counterfactual("arrival_ms", job.arrival_ms, slot * slot_ms, not admitted)
    return Counterfactual("arrival_ms", job.arrival_ms, None, not admitted)


def _least(ask: Callable[[float], tuple[bool, float]], own: float, limit: float, close: float) -> float | None:
    """The least x between own and limit at which the job is admitted, within `close` above; None when it is at neither.

    ask: whether it is at x, and the x at which the schedule found there breaks even: above that it surely is.
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


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
