"""Sentences for the reasons of schedulers that place single workers on typed lanes (reasons.py has all others)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduling.words import count, duration

Values = Mapping[str, Any]


def _cost(values: Values) -> str:
    """Q of Eq. (5) and its four terms."""
    parts = ", ".join(f"{duration(values[f'{name}_ms'])} {noun}" for name, noun in (
        ("upload", "upload"), ("waiting", "waiting"), ("processing", "work"), ("postponed", "delay of others"),
    ))  # fmt: skip
    return f"the completion times of all rise by {duration(values['cost_ms'])} ({parts})"


def _dispatched(values: Values) -> str:
    places = []
    if values["edge"]:
        places.append(f"{count(values['edge'], 'chunk')} on {count(values['servers'], 'edge server')}")
    if values["cloud"]:
        places.append(f"{count(values['cloud'], 'chunk')} in the cloud")
    stopped = f" It displaces chunks of {count(len(values['displaced']), 'job')}." if values["displaced"] else ""
    return f"Dispatched, {' and '.join(places)}: {_cost(values)}.{stopped}"


def _no_worker(values: Values) -> str:
    known = ", ".join(values["types"]) or "none"
    return f"Rejected: no edge server has a worker of its type ({values['type'] or 'none'}); those there are: {known}."


def _batched(values: Values) -> str:
    where = f"with {count(values['workers'], 'worker')} {'in the cloud' if values['cloud'] else 'at the edge'}"
    return (
        f"Scheduled in batch {values['batch']}, {where}: the cheapest of its {count(values['choices'], 'choice')}, at {values['price']:.4g} "
        f"worker-hours in cloud prices."
    )


def _gang(values: Values) -> str:
    load = f", after loading its data for {duration(values['load_ms'])}" if values["load_ms"] else ""
    verb = "Resumed" if values["again"] else "Started"
    return f"{verb} with {count(values['workers'], 'worker')} on {count(values['servers'], 'server')}{load}"


LANE_SENTENCES: dict[str, Callable[[Values], str]] = {
    "dispatched": _dispatched,
    "displaced": lambda v: (
        f"Displaced by job {v['by_id']}, which is ahead by its rate: {count(v['chunks'], 'chunk')} will stop halfway and wait. With that "
        f"job {_cost(v)}."
    ),
    "no_worker_of_type": _no_worker,
    "too_much_work": lambda v: (
        f"Rejected: its work takes one worker {duration(v['work_ms'])}, and at most {duration(v['most_ms'])} can be scheduled."
    ),
    "storage_full": lambda v: (
        f"Waits: its {count(v['chunks'], 'chunk')} of {v['chunk_mb']:g} MB do not fit beside what is stored; place {v['waiting']} of those "
        "that wait for storage."
    ),
    "storage_too_small": lambda v: (
        f"Rejected: it has {count(v['chunks'], 'chunk')} of {v['chunk_mb']:g} MB, and the empty servers that have workers of its type "
        f"store {v['most']} of them."
    ),
    "shortest_first": lambda v: f"{_gang(v)}: {duration(v['left_ms'])} of work are left to do, less than of those that wait.",
    "least_served": lambda v: (
        f"{_gang(v)}: it is in queue {v['queue']} of those by service received, {duration(v['served_ms'])} of a worker's time so far."
    ),
    "demoted": lambda v: f"Moved to queue {v['queue']}: it has received {duration(v['served_ms'])} of a worker's time.",
    "promoted": lambda v: (
        f"Moved to the first queue: it has waited for {duration(v['waited_ms'])}, which is long for what it received."
    ),
    "outranked": lambda v: (
        f"Stopped: its {count(v['workers'], 'worker')} go to job {v['by_id']}, which comes before it; what it has done is kept."
    ),
    "batched": _batched,
    "lane_left": lambda v: f"Stopped because a server of its {count(v['workers'], 'worker')} leaves; what it has done is kept.",
}
