"""The details of one job: fields with their provenance, decisions as sentences, bars, utility, price of its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.readmodels.colocation import stretches
from dashboard.readmodels.job_table import known_at, row_of
from scheduling.model.bars import JOB
from scheduling.model.held import size_at
from scheduling.model.utility import arrival_slot
from scheduling.model.values import Job
from scheduling.reporting.reasons import readable
from twin.eventlog import event_log
from twin.eventlog.fold import ARRIVED, BAR_FIELDS, COMPLETED_AT, DIED, NEVER, valid_at
from twin.eventlog.job_states import job_states, state_name
from twin.eventlog.state_cache import Newest
from twin.files.jobs_jsonl import job_to_dict
from twin.models import Run
from twin.scenarios import store


def story(run: Run, index: int, at_ms: int | None = None) -> dict[str, Any] | None:
    """The job's fields with their provenance, decisions as sentences, bars, utility and the price of its plan.

    With at_ms as known at that time. None if there is no such job. For a job in groups also `stretches`, for one that
    a live cluster suspended `suspensions`.
    """
    with Newest(run) as state:
        cluster, jobs = store.of_run(run)
        if index >= len(jobs):
            return None
        newest_ms = max(state.sim_ms, run.sim_ms)
        then = newest_ms if at_ms is None else min(at_ms, newest_ms)
        job = size_at(jobs[index], then)
        known = state.jobs.rows if at_ms is None else known_at(state, then)
        arrived = index < len(known) and 0 <= known[index, ARRIVED] <= then
        code = state_name(job_states(state, then)[index]) if arrived else "not arrived"
        verdict = state.verdicts[index] if arrived else None
        row = (
            row_of(index, job, known[index], verdict, code)
            if arrived
            else {"index": index, "id": job.id, "state": code}
        )
        bars = state.bars.rows[state.bars.rows[:, JOB] == index]
        if at_ms is not None:
            bars = bars[valid_at(bars, then)]
            bars[:, DIED] = NEVER  # their outcome was not known yet
        spent = stretches(state, index, then) if state.groups else None
        suspended = [[begin, end] for begin, end in state.suspensions.get(index, ()) if begin <= then]
        times = state.jobs.rows[index] if arrived else None
        since = 0 if times is None else int(times[ARRIVED])
        until = None if times is None or times[COMPLETED_AT] < 0 else int(times[COMPLETED_AT])
    fields = job_to_dict(job)
    provenance = fields.pop("provenance", {})
    if run.mode_rules.polled:
        until = None  # decisions may become known after the job has ended
    until = until if at_ms is None else min(then, then if until is None else until)
    decisions = _decisions(run, index, since, until, [server.name for server in cluster.servers]) if arrived else []
    if arrived and at_ms is not None and decisions:
        row |= {"verdict": decisions[-1]["kind"], "code": decisions[-1]["code"]}
    return {
        **row,
        "at_ms": None if at_ms is None else then,
        "fields": [
            {"name": name, "value": value, "provenance": provenance.get(name, "")} for name, value in fields.items()
        ],
        "worth": _worth(job, cluster.slot_ms),
        "decisions": [decision for decision in decisions if decision["at_ms"] <= then],
        "bar_fields": BAR_FIELDS,
        "bars": bars.tolist(),
        **({} if spent is None else {"stretches": spent}),
        **({"suspensions": suspended} if suspended else {}),
    }


def _worth(job: Job, slot_ms: int) -> dict[str, Any] | None:
    """Parameters of a job's utility curve: {slot_ms, from_slot, priority, sensitivity, target_slots}."""
    if job.utility is None:
        return None
    u = job.utility
    from_slot = arrival_slot(job.arrival_ms, slot_ms)
    numbers = {"priority": u.priority, "sensitivity": u.sensitivity, "target_slots": u.target_slots}
    return {"slot_ms": slot_ms, "from_slot": from_slot, **numbers}


def _decisions(
    run: Run, index: int, since_ms: int, until_ms: int | None, servers: Sequence[str]
) -> list[dict[str, Any]]:
    """Decisions about the job with their sentences, from the batches of the log that touch its lifetime."""
    first = run.batches.filter(last_ms__gte=since_ms).values_list("first_seq", flat=True).first()
    if first is None:
        return []
    return [
        {
            "seq": seq,
            "at_ms": at_ms,
            "kind": data["kind"],
            "code": data["code"],
            "values": data["values"],
            "sentence": readable(data["code"], data["values"], servers),
        }
        for seq, at_ms, _, data in event_log.lines_of(run.pk, ("decided",), first - 1, until_ms)
        if data["job"] == index
    ]
