"""Sentences for decision reasons of slotted schedulers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scheduling.model.values import RESOURCE_UNITS, RESOURCES
from scheduling.reporting.quantities import MIN_TWO_DECIMALS, amount, counted, duration, fixed, significant
from scheduling.reporting.sentences import ROLE, UNIT, Sentences, Values

MAX_DIGITS = 6


def _dearest(cells: Sequence[Sequence[Any]], servers: Sequence[str]) -> str:
    """Sentence about the most expensive cell, unless it costs nothing.

    Cells are [server, resource, slot, price, cost], highest cost first.
    """
    server, resource, slot, price, cost = cells[0] if cells else (0, 0, 0, 0.0, 0.0)
    if cost < MIN_TWO_DECIMALS / 2:
        return ""
    name = servers[server] if servers else f"#{server}"
    return (
        f" Highest cost: {_shown(RESOURCES[resource])} on server {name} in slot {slot:,}, {fixed(cost, 2)} at "
        f"{significant(price)} per {RESOURCE_UNITS[resource]}."
    )


def _details(values: Values, servers: Sequence[str]) -> str:
    return _dearest(values.get("cells", ()), servers) + _failures(values)


def _failures(values: Values) -> str:
    """Sentences about solvers that did not finish."""
    return _unfinished(values, "solver", "Refinement incomplete: the solver", "an earlier placement is used") + (
        _unfinished(values, "relaxation", "Relaxation incomplete: the solver", "a placement without it is used")
    )


def _unfinished(values: Values, solver: str, subject: str, outcome: str) -> str:
    outcomes = {"error": "failed", "limit": "reached its limit"}
    parts = [
        f"{outcomes[what]} {counted(values[f'{solver}_{what}'], 'time')}"
        for what in outcomes
        if values.get(f"{solver}_{what}")
    ]
    return f" {subject} {' and '.join(parts)}, so {outcome}." if parts else ""


def _payoff(values: Values, verb: str) -> str:
    """Payoff first, then the schedule that it belongs to."""
    utility, cost, payoff = _adding_up(values["utility"], values["cost"], values["payoff"])
    comparison = "exceeds" if verb == "Admitted" else "does not exceed"
    slots = f"slots {values['start_slot']:,} to {values['finish_slot']:,}"
    return (
        f"{verb}: its utility of {utility} {comparison} its cost of {cost} (payoff {payoff}). Best schedule found: "
        f"{slots}, at most {counted(values['workers_peak'], 'worker')}."
    )


def _adding_up(utility: float, cost: float, payoff: float) -> tuple[str, str, str]:
    """The three with as many decimals as it takes for the rounded ones to add up, at most MAX_DIGITS.

    A value that would be 0 with these decimals has three significant digits. The job drawer does the same (addingUp of
    static/js/run/drawer/payoff.js).
    """
    digits = _digits(payoff)
    while digits < MAX_DIGITS and round(round(utility, digits) - round(cost, digits), digits) != round(payoff, digits):
        digits += 1
    shown = (
        fixed(value, digits) if round(value, digits) or not value else significant(value)
        for value in (utility, cost, payoff)
    )
    return next(shown), next(shown), next(shown)


def _digits(payoff: float) -> int:
    """Decimals that distinguish a payoff from 0: two, or up to MAX_DIGITS."""
    return (
        2
        if payoff == 0 or abs(payoff) >= MIN_TWO_DECIMALS / 2
        else min(MAX_DIGITS, 1 - math.floor(math.log10(abs(payoff))))
    )


def _fits_nowhere(values: Values) -> str:
    unit, what = UNIT[values["resource"]], _unit_of(values["resource"])
    return (
        f"Rejected: one {ROLE[values['role']]} needs {values['need']:g} {what}; the largest server has "
        f"{values['most']:g} {unit}."
    )


def _shown(resource: str) -> str:
    """'GPU', 'vCPU', 'memory'"""
    unit = UNIT[resource]
    return unit if unit.lower().endswith(resource) else resource


def _unit_of(resource: str) -> str:
    """'GPU', 'GB of memory'"""
    unit = UNIT[resource]
    return unit if unit.lower().endswith(resource) else f"{unit} of {resource}"


def _in_order(values: Values, order: str = "in order of arrival") -> str:
    gang = f"{counted(values['workers'], 'worker')} and {counted(values['ps'], 'parameter server')}"
    return f"Started {order} with {gang}, {since_arrival(values['waited_ms'])}."


def since_arrival(waited_ms: int) -> str:
    """Time from the arrival of a job to a start, which includes an earlier execution."""
    return f"{duration(waited_ms)} after its arrival" if waited_ms else "without waiting"


def _fits_together(values: Values) -> str:
    amounts = ", ".join(
        f"{need:g} {_unit_of(name)}" for name, need in zip(RESOURCES, values["need"], strict=True) if need
    )
    return (
        f"Rejected: no single server has capacity for one {ROLE[values['role']]} ({amounts}), although each amount "
        "is available on some server."
    )


def _reward(values: Values, verb: str, comparison: str) -> str:
    place = "fits" if values["beside"] else "does not fit"
    return (
        f"{verb}: needs {counted(values['rest_slots'], 'slot')} and {place} in addition to the running jobs. Its "
        f"discounted utility of {amount(values['value'])} minus the loss of {amount(values['cost'])} to other jobs "
        f"is {comparison} {values['threshold']:g}."
    )


def _nothing(values: Values) -> str:
    return (
        f"no capacity for the {counted(values['wanted'], 'worker')} assigned by the solver"
        if values["wanted"]
        else "the solver assigned no workers"
    )


def _solver(values: Values) -> str:
    """Sentence about the quality of the solution; empty if it is within the requested gap."""
    text = {
        "limit": " The solver stopped at its node limit",
        "time": " The solver stopped at its time limit, so the result may differ on another machine",
        "narrowed": " The jobs that may change were selected before solving",
        "infeasible": " No allocation satisfies the bounds on unfairness and changes, so the last allocation is kept.",
        "failed": " The solver failed, so the last allocation is kept.",
    }.get(values["solver"], "")
    if text and not text.endswith("."):
        gap = values.get("gap")
        text += "; the last allocation is kept." if gap is None else f"; gap to the bound: {100 * gap:.1f} %."
    return text


SLOTTED = Sentences("slotted", {
    "payoff_positive": lambda v: _payoff(v, "Admitted"),
    "payoff_not_positive": lambda v: _payoff(v, "Rejected"),
    "fits_nowhere": _fits_nowhere,
    "fits_nowhere_together": _fits_together,
    "too_late": lambda v: (
        f"Rejected: even with all its workers the job needs {counted(v['need_slots'], 'slot')}, more than the "
        f"{v['left_slots']:,} left before the horizon."
    ),
    "no_capacity": lambda v: (
        f"Rejected: given the existing plans, the {ROLE[v['role']]}s for its work do not fit into the "
        f"{counted(v['left_slots'], 'slot')} before the horizon."
    ),
    "gang_too_large": lambda v: (
        f"Rejected: requests {counted(v['count'], ROLE[v['role']])} at once; the empty cluster has capacity for "
        f"{v['most']:,}."
    ),
    "gang_fits_nowhere": lambda v: (
        f"Rejected: its {counted(v['workers'], 'worker')} and {counted(v['ps'], 'parameter server')} do not fit the "
        "empty cluster together."
    ),
    "ps_too_slow": lambda v: (
        f"Rejected: a worker sends {v['worker_gbps']:g} Gbps and a parameter server receives {v['ps_gbps']:g} Gbps, so "
        "the job would need more parameter servers than workers."
    ),
    "in_order": _in_order,
    "out_of_order": lambda v: _in_order(v, "ahead of earlier jobs that do not fit,"),
    "server_left": lambda v: (
        "Preempted: a server of the job becomes unavailable. It is first in the queue, with its remaining work."
    ),
    "server_gone": lambda v: "Preempted: a server of the job is unavailable. Completed work is kept.",
    "fair_share": lambda v: (
        f"Allocated {counted(v['workers'], 'worker')} and {counted(v['ps'], 'parameter server')}, "
        f"{100 * v['share']:.2f} % of all {_shown(v['resource'])}: its share among {counted(v['jobs'], 'job')} by "
        "dominant resource fairness."
    ),
    "no_share": lambda v: (
        f"Preempted: no capacity remains for a worker of this job among {counted(v['jobs'], 'job')}. "
        "Completed work is kept."
    ),
    "reward_exceeds_cost": lambda v: _reward(v, "Admitted", "more than"),
    "reward_too_low": lambda v: _reward(v, "Rejected", "not more than"),
    "rewarding": lambda v: (
        f"Runs with {counted(v['workers'], 'worker')} and {counted(v['ps'], 'parameter server')}: its utility per slot "
        f"is {v['reward']:.4g} over {counted(v['rest_slots'], 'slot')}, and it fits in addition to jobs with higher "
        "utility per slot."
    ),
    "outbid": lambda v: (
        f"Preempted: its utility per slot is {v['reward']:.4g} over {counted(v['rest_slots'], 'slot')}, and "
        f"the jobs with higher utility per slot leave no room for its {counted(v['workers'], 'worker')}."
    ),
    "shared_out": lambda v: (
        f"Allocated {counted(v['workers'], 'worker')} and {counted(v['ps'], 'parameter server')}; the solver assigned "
        f"{counted(v['wanted'], 'worker')}, in an allocation of {counted(v['jobs'], 'job')}.{_solver(v)}"
    ),
    "shared_out_nothing": lambda v: (
        f"Preempted: {_nothing(v)} in an allocation of {counted(v['jobs'], 'job')}. Completed work is kept.{_solver(v)}"
    ),
    "allocation_kept": lambda v: (
        f"Queued: the solver found no allocation for {counted(v['jobs'], 'job')}. The last allocation, with "
        f"{v['running']:,} running, is kept.{_solver(v)}"
    ),
}, ending=_details)  # fmt: skip
