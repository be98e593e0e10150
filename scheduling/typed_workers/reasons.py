"""Sentences for decision reasons of schedulers for typed workers."""

from __future__ import annotations

from scheduling.reporting.quantities import counted, duration
from scheduling.reporting.sentences import Sentences, Values


def _cost(values: Values) -> str:
    """Q of Eq. (5) with its four terms."""
    parts = ", ".join(f"{duration(values[f'{name}_ms'])} {noun}" for name, noun in (
        ("upload", "upload"), ("waiting", "waiting"), ("processing", "processing"),
        ("postponed", "delay of other jobs"),
    ))  # fmt: skip
    return f"total completion time increases by {duration(values['cost_ms'])} ({parts})"


def _dispatched(values: Values) -> str:
    places = []
    if values["edge"]:
        places.append(f"{counted(values['edge'], 'chunk')} to {counted(values['servers'], 'server')}")
    if values["cloud"]:
        places.append(f"{counted(values['cloud'], 'chunk')} to the unlimited cloud")
    stopped = f" It preempts chunks of {counted(len(values['displaced']), 'job')}." if values["displaced"] else ""
    return f"Dispatched {' and '.join(places)}: {_cost(values)}.{stopped}"


def _no_worker(values: Values) -> str:
    if list(values["types"]) == ["any"]:  # no server declares types: its GPUs are its workers
        return "Rejected: no server has a worker; without declared types of workers, each GPU is one."
    known = ", ".join(values["types"]) or "none"
    return f"Rejected: no server has a worker of its type ({values['type'] or 'none'}). Available types: {known}."


def _batched(values: Values) -> str:
    where = f"with {counted(values['workers'], 'worker')} {'in the cloud' if values['cloud'] else 'at the edge'}"
    return (
        f"Scheduled in batch {values['batch']:,} {where}: the cheapest of {counted(values['choices'], 'option')}, "
        f"at {values['price']:.4g} "
        "worker-hours at cloud prices."
    )


def _gang(values: Values) -> str:
    load = f", after loading its data for {duration(values['load_ms'])}" if values["load_ms"] else ""
    verb = "Resumed" if values["again"] else "Started"
    return f"{verb} with {counted(values['workers'], 'worker')} on {counted(values['servers'], 'server')}{load}"


TYPED_WORKERS = Sentences("typed_workers", {
    "dispatched": _dispatched,
    "displaced": lambda v: (
        f"Preempted by job {v['by_id']}, which has a higher rate: {counted(v['chunks'], 'chunk')} will be suspended. "
        f"With that job, {_cost(v)}."
    ),
    "no_worker_of_type": _no_worker,
    "too_much_work": lambda v: (
        f"Rejected: its work takes {duration(v['work_ms'])} on one worker; at most {duration(v['most_ms'])} can be "
        "scheduled."
    ),
    "storage_full": lambda v: (
        f"Waiting for storage: the free storage is too small for its {counted(v['chunks'], 'chunk')} of "
        f"{v['chunk_mb']:g} MB; position {v['waiting']:,} in the queue for storage."
    ),
    "storage_too_small": lambda v: (
        f"Rejected: it has {counted(v['chunks'], 'chunk')} of {v['chunk_mb']:g} MB; empty servers with workers of its "
        f"type can store {v['most']:,} of them."
    ),
    "shortest_first": lambda v: (
        f"{_gang(v)}: its remaining work is {duration(v['left_ms'])}, and no waiting job of its type with less "
        "remaining work fits."
    ),
    "least_served": lambda v: (
        f"{_gang(v)}: in queue {v['queue']} by attained service, {duration(v['served_ms'])} of worker time so far."
    ),
    "demoted": lambda v: (
        f"Demoted to queue {v['queue']}: attained service is {duration(v['served_ms'])} of worker time."
    ),
    "promoted": lambda v: (
        f"Promoted to the first queue: it waited {duration(v['waited_ms'])}, at least its run time × the "
        "promotion factor."
    ),
    "outranked": lambda v: (
        f"Preempted: job {v['by_id']} has a higher priority, and too few workers remain free for the gang of "
        f"{counted(v['workers'], 'worker')}. Completed work is kept."
    ),
    "batched": _batched,
    "lane_left": lambda v: (
        f"Preempted: a server of its {counted(v['workers'], 'worker')} becomes unavailable. Completed work is kept."
    ),
})  # fmt: skip
