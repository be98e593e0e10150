"""Reasons of the re-planning scheduler, and their sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduling.model.bars import Role
from scheduling.model.decision import Reason
from scheduling.reporting.quantities import amount, counted
from scheduling.slotted.replanning.plans import Plan

_WORKER = int(Role.WORKER)


def given(plan: Plan, slot_ms: int) -> Reason:
    """Reason for the plan of a job that waited or has just arrived."""
    starts = [bar.start_ms for bar in plan.bars if bar.role == _WORKER]
    values = {
        "utility": plan.worth, "start_slot": min(starts) // slot_ms, "finish_slot": plan.finish,
        "workers_peak": plan.most_workers(),
    }  # fmt: skip
    return Reason("replanning.planned", values)


def moved(old: Plan, new: Plan, gain: float) -> Reason:
    """Reason for another plan of a job; gain: in the utility of all plans."""
    values = {"before_slot": old.finish, "finish_slot": new.finish, "utility": new.worth, "gain": gain}
    return Reason("replanning.moved", values)


def withdrawn(old: Plan, gain: float) -> Reason:
    """Reason for the loss of a plan; gain: in the utility of all plans."""
    return Reason("replanning.withdrawn", {"before_slot": old.finish, "utility": old.worth, "gain": gain})


def never_pays(most: float) -> Reason:
    """Reason for the rejection of a job that never pays; most: its payoff on an empty cluster."""
    return Reason("replanning.hopeless", {"payoff": most})


REASONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "replanning.planned": lambda v: (
        f"Planned: slots {v['start_slot']:,} to {v['finish_slot']:,}, at most {counted(v['workers_peak'], 'worker')}, "
        f"for a utility of {amount(v['utility'])}."
    ),
    "replanning.moved": lambda v: (
        f"Planned again: finishes in slot {v['finish_slot']:,} instead of {v['before_slot']:,}, with a utility of "
        f"{amount(v['utility'])}. The utility of all plans rises by {amount(v['gain'])}."
    ),
    "replanning.withdrawn": lambda v: (
        f"Plan withdrawn: it had a utility of {amount(v['utility'])} in slot {v['before_slot']:,}. The "
        f"utility of all plans rises by {amount(v['gain'])}. Completed work is kept."
    ),
    "replanning.hopeless": lambda v: (
        f"Rejected: its payoff would be {amount(v['payoff'])} even on an empty cluster, and falls as time passes."
    ),
}
