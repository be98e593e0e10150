"""Turns a reason's code and numbers into a sentence, for browser and command line alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduling.model import RESOURCE_UNITS, RESOURCES
from scheduling.reasons_groups import GROUP_SENTENCES
from scheduling.reasons_lanes import LANE_SENTENCES
from scheduling.words import count, duration

UNIT = dict(zip(RESOURCES, RESOURCE_UNITS, strict=True))
ROLE = {"worker": "worker", "ps": "parameter server"}
Values = Mapping[str, Any]


def sentence(code: str, values: Values, servers: Sequence[str] = ()) -> str:
    """What the reason says in English, every number with its unit; ValueError for a code that has no sentence.

    servers: the names of the cluster's servers by index, for reasons that point at some.
    """
    if code not in SENTENCES:
        raise ValueError(f"no sentence for reason {code!r}; known: {', '.join(sorted(SENTENCES))}")
    return SENTENCES[code](values) + _dearest(values.get("cells", ()), servers) + _failures(values)


def _dearest(cells: Sequence[Sequence[Any]], servers: Sequence[str]) -> str:
    """Where most of the cost lies: [server, resource, slot, price, cost], dearest first."""
    if not cells:
        return ""
    server, resource, slot, price, cost = cells[0]
    name = servers[server] if servers else f"number {server}"
    return (
        f" The dearest part is {RESOURCES[resource]} on server {name} in slot {slot}: {cost:.2f}, at {price:.4g} per "
        f"{RESOURCE_UNITS[resource]}."
    )


def _failures(values: Values) -> str:
    """What solvers did not finish."""
    return _unfinished(values, "solver", "The refinement is not finished, the solver", "a placement found before was used") + (
        _unfinished(
            values, "relaxation", "The relaxation was not always solved, its solver", "a placement found without it was used"
        )
    )


def _unfinished(values: Values, solver: str, subject: str, outcome: str) -> str:
    said = {"error": "failed", "limit": "reached its limit"}
    parts = [f"{said[what]} {count(values[f'{solver}_{what}'], 'time')}" for what in said if values.get(f"{solver}_{what}")]
    return f" {subject} {' and '.join(parts)}: {outcome}." if parts else ""


def _payoff(values: Values, verb: str, comparison: str) -> str:
    slots = f"slots {values['start_slot']} to {values['finish_slot']}"
    return (
        f"{verb}: the best schedule found ({slots}, at most {count(values['workers_peak'], 'worker')}) is worth {values['utility']:.2f} "
        f"and would use resources priced at {values['cost']:.2f}, so its payoff of {values['payoff']:.2f} is {comparison}."
    )


def _fits_nowhere(values: Values) -> str:
    unit = UNIT[values["resource"]]
    return (
        f"Rejected: one {ROLE[values['role']]} needs {values['need']:g} {unit} of {values['resource']}, and the largest server has "
        f"{values['most']:g} {unit}."
    )


def _in_order(values: Values) -> str:
    gang = f"{count(values['workers'], 'worker')} and {count(values['ps'], 'parameter server')}"
    waited = "without waiting" if not values["waited_ms"] else f"after waiting {duration(values['waited_ms'])}"
    return f"Started in order of arrival with {gang}, {waited}."


def _fits_together(values: Values) -> str:
    amounts = ", ".join(f"{need:g} {UNIT[name]} {name}" for name, need in zip(RESOURCES, values["need"], strict=True) if need)
    return f"Rejected: no single server has room for one {ROLE[values['role']]} ({amounts}), though each amount exists somewhere."


def _reward(values: Values, verb: str, comparison: str) -> str:
    place = "fits beside the jobs that run" if values["beside"] else "does not fit beside the jobs that run"
    return (
        f"{verb}: it takes {count(values['rest_slots'], 'slot')}, {place}, and its discounted utility of {values['value']:.2f} less "
        f"{values['cost']:.2f} that the others would lose is {comparison} than {values['threshold']:g}."
    )


def _nothing(values: Values) -> str:
    return (
        f"of the {values['wanted']} workers that the solver gave it none fits"
        if values["wanted"]
        else "the solver gave it nothing"
    )


def _solver(values: Values) -> str:
    """What to know about the solver's answer; nothing where it is as good as asked for."""
    told = {
        "limit": " The solver stopped at its limit of nodes",
        "time": " The solver stopped at its limit of time, which another machine may not reach",
        "narrowed": " Which running jobs may change was chosen beforehand",
        "infeasible": " No allocation keeps within the bounds on unfairness and changes, so the last one is kept.",
        "failed": " The solver failed, so the last allocation is kept.",
    }.get(values["solver"], "")
    if told and not told.endswith("."):
        gap = values.get("gap")
        told += ", so the last allocation is kept." if gap is None else f", {gap:.1%} from the bound."
    return told


SENTENCES: dict[str, Callable[[Values], str]] = {
    "place_taken": lambda values: "An edit took the place that it had; it is offered anew, with the work that is left.",
    "payoff_positive": lambda v: _payoff(v, "Admitted", "positive"),
    "payoff_not_positive": lambda v: _payoff(v, "Rejected", "not positive"),
    "fits_nowhere": _fits_nowhere,
    "fits_nowhere_together": _fits_together,
    "missing_part": lambda v: f"Rejected: the job has no {v['part']}, which this scheduler needs.",
    "too_late": lambda v: (
        f"Rejected: even with all its workers the job needs {count(v['need_slots'], 'slot')}, and {v['left_slots']} are left before the horizon."
    ),
    "no_capacity": lambda v: (
        f"Rejected: beside the jobs already planned, the {ROLE[v['role']]}s for its work do not fit into the "
        f"{count(v['left_slots'], 'slot')} before the horizon."
    ),
    "gang_too_large": lambda v: (
        f"Rejected: it asks for {count(v['count'], ROLE[v['role']])} at once, and the empty cluster has room for {v['most']}."
    ),
    "gang_fits_nowhere": lambda v: (
        f"Rejected: its {count(v['workers'], 'worker')} and {count(v['ps'], 'parameter server')} do not fit the empty cluster together."
    ),
    "ps_too_slow": lambda v: (
        f"Rejected: a worker sends {v['worker_gbps']:g} Gbps and a parameter server takes {v['ps_gbps']:g} Gbps, so it would need more "
        "parameter servers than workers."
    ),
    "in_order": _in_order,
    "server_left": lambda v: (
        "Stopped because a server that it stands on leaves; it waits at the head of the queue with the work that is left."
    ),
    "server_gone": lambda v: "Stopped because a server that it stands on is away; what it has done is kept.",
    "fair_share": lambda v: (
        f"Gets {count(v['workers'], 'worker')} and {count(v['ps'], 'parameter server')}, {v['share']:.2%} of all {v['resource']}: its share "
        f"among {count(v['jobs'], 'job')} by dominant resource fairness."
    ),
    "no_share": lambda v: (
        f"Stopped: with {count(v['jobs'], 'job')} to share among, there is no room left for a worker of this one; what it has done is kept."
    ),
    "reward_exceeds_cost": lambda v: _reward(v, "Admitted", "more"),
    "reward_too_low": lambda v: _reward(v, "Rejected", "not more"),
    "rewarding": lambda v: (
        f"Runs with {count(v['workers'], 'worker')} and {count(v['ps'], 'parameter server')}: it earns {v['reward']:.4g} for each of its "
        f"{count(v['rest_slots'], 'slot')}, and there is room beside those that earn more."
    ),
    "outbid": lambda v: (
        f"Paused: it would earn {v['reward']:.4g} for each of its {count(v['rest_slots'], 'slot')}, and its "
        f"{count(v['workers'], 'worker')} have no room beside the jobs that earn more."
    ),
    "shared_out": lambda v: (
        f"Gets {count(v['workers'], 'worker')} and {count(v['ps'], 'parameter server')} of the {v['wanted']} workers that the solver gave "
        f"it among {count(v['jobs'], 'job')}.{_solver(v)}"
    ),
    "shared_out_nothing": lambda v: (
        f"Stopped: {_nothing(v)} among {count(v['jobs'], 'job')}; what it has done is kept.{_solver(v)}"
    ),
    "allocation_kept": lambda v: (
        f"Waits: the solver found no allocation for {count(v['jobs'], 'job')}, so the last one, of {v['running']} that run, is kept."
        f"{_solver(v)}"
    ),
    **GROUP_SENTENCES,
    **LANE_SENTENCES,
    "horizon": lambda v: f"Unfinished: the horizon of {count(v['horizon_slots'], 'slot')} ended first.",
    "stuck": lambda v: "Unfinished: nothing more happens, and the job has no plan to finish.",
}
