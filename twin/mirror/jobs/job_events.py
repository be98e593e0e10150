"""Events of a job of a real cluster: its fields, states, bars and end, from what is known of it. Pure functions.

epoch_ms is the cluster's time at which the log begins; all times of events are in ms since then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from scheduling.kernel.plan_scopes import OF_HISTORY
from scheduling.model.bars import NONE
from scheduling.model.values import Job
from twin.connectors.facts import ENDED, HELD, RUNNING, SUSPENDED, WAITING, Attempt, JobFact
from twin.mirror.as_values import EventData, bars_of, job_of, span_of
from twin.mirror.jobs.known import KnownJob


def arrival_ms(fact: JobFact, epoch_ms: int) -> int:
    """Submission of the job in ms of the log; 0 for what was submitted before it begins."""
    return max(0, fact.submitted_ms - epoch_ms)


def added(known: KnownJob, epoch_ms: int) -> list[EventData]:
    """A job that the log did not have, with all its fields, and its arrival."""
    submitted_ms = arrival_ms(known.fact, epoch_ms)
    fields = _fields(job_of(known.name, known.fact, submitted_ms, epoch_ms))
    return [
        ("job_added", {"job": known.index, "fields": fields}),
        ("job_arrived", {"job": known.index, "submitted_ms": submitted_ms}),
    ]


def fields_changed(known: KnownJob, was: JobFact, had: tuple[Attempt, ...], epoch_ms: int) -> list[EventData]:
    """Fields of a job that have changed since the fact and attempts before: its amounts, and its submission."""
    before = job_of(known.name, replace(was, attempts=had), arrival_ms(was, epoch_ms), epoch_ms)
    now = replace(known.fact, attempts=known.attempts)
    job = job_of(known.name, now, arrival_ms(known.fact, epoch_ms), epoch_ms)
    events: list[EventData] = []
    if _changing(job) != _changing(before):
        events.append(("job_set", {"job": known.index, "fields": _fields(job)}))
    if job.arrival_ms != before.arrival_ms:  # it was first seen after a requeue, and had been submitted earlier
        events.append(("job_arrived", {"job": known.index, "submitted_ms": job.arrival_ms}))
    return events


def state_changed(known: KnownJob, was: JobFact | None) -> list[EventData]:
    """Decisions by which a job is queued, started, suspended or resumed; none where its state is as before.

    was: the fact before; None if the job is new.
    """
    fact = known.fact
    values = {"reason": fact.reason}
    if was is not None and was.state == fact.state == ENDED:
        return []
    events: list[EventData] = []
    if was is not None and fact.restarts > was.restarts:
        events.append(_decided(known, "requeued", {**values, "restarts": fact.restarts}))
    elif was is not None and (was.state, was.reason) == (fact.state, fact.reason):
        return []
    if fact.state in (WAITING, HELD):
        events.append(_decided(known, "waits", values, "held" if fact.state == HELD else "waits"))
    elif fact.state == RUNNING:
        if was is not None and was.state == SUSPENDED:
            events.append(_decided(known, "resumed", values))
        elif was is None or was.state != RUNNING or fact.restarts > was.restarts:
            events.append(_decided(known, "started", {**values, "waited_ms": _waited_ms(known)}))
    elif fact.state == SUSPENDED:
        events.append(_decided(known, "suspended", values))
    return events


def _waited_ms(known: KnownJob) -> int:
    """Time from the submission to the newest start in which no attempt ran."""
    if not known.attempts:
        return 0
    *earlier, last = known.attempts
    ran = sum(attempt.ended_ms - attempt.started_ms for attempt in earlier if attempt.ended_ms is not None)
    return max(0, last.started_ms - known.fact.submitted_ms - ran)


def bars_changed(known: KnownJob, nodes: Mapping[str, int], epoch_ms: int) -> EventData:
    """All bars of a job, in place of those that the log has. nodes: name -> index in the log."""
    bars = bars_of(known.index, known.fact, known.attempts, nodes, epoch_ms)
    begin_ms, end_ms = span_of(bars, known.attempts, epoch_ms)
    finish_ms = end_ms if known.attempts and known.fact.state == ENDED else NONE
    times = [[known.index, begin_ms, finish_ms]]
    return "plan_changed", {"scope": OF_HISTORY.name, "keys": [known.index], "jobs": times, "bars": bars}


def ended(known: KnownJob, epoch_ms: int, at_ms: int, log_ms: int) -> list[EventData]:
    """End of a job: completed, or withdrawn if it never ran.

    at_ms: the cluster's time of the poll, for an end of which the cluster states no time; log_ms: the log's newest.
    """
    fact = known.fact
    values: dict[str, Any] = {"reason": fact.reason, "outcome": fact.outcome}
    kind, code = ("ended", "ended") if known.attempts else ("rejected", "withdrawn")
    last = known.attempts[-1] if known.attempts else None
    if last is not None and last.ended_after_ms is not None:
        values |= {"after_ms": max(0, last.ended_after_ms - epoch_ms)}
    events = [_decided(known, kind, values, code)]
    if last is not None:
        ended_ms = min(log_ms, max(0, (known.ended_ms or at_ms) - epoch_ms))
        events.append(("job_completed", {"job": known.index, "utility": 0.0, "ended_ms": ended_ms}))
    return events


def _fields(job: Job) -> dict[str, Any]:
    """All fields of a job, as an event states them."""
    sizes = job.earlier_sizes
    return asdict(job) | {"earlier_sizes": None if sizes is None else list(map(tuple, sizes))}


def _changing(job: Job) -> tuple[Any, ...]:
    """Fields of a job that may change after it was first seen, and that `job_set` then states."""
    return job.worker, job.requested_workers, job.limit_ms, job.arrival_ms, job.earlier_sizes


def _decided(known: KnownJob, kind: str, values: Mapping[str, Any], code: str = "") -> EventData:
    """code: of scheduling/observed/reasons.py; by default the kind itself."""
    return "decided", {
        "job": known.index,
        "kind": kind,
        "code": code or kind,
        "values": {k: v for k, v in values.items() if v != ""},
    }
