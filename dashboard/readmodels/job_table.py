"""Table of a run's jobs, and the details of one job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dashboard.readmodels.colocation import members, stretches
from dashboard.readmodels.job_reasons import newest_decisions, sentences
from dashboard.readmodels.state_cache import Newest
from scheduling.model.utility import arrival_slot
from scheduling.model.values import Job, ModelError
from scheduling.reporting.reasons import readable
from twin.eventlog import event_log
from twin.eventlog.fold import BAR_FIELDS, BORN, DIED, END, JOB_FIELDS, NEVER, START, WORKER, RunState
from twin.eventlog.job_states import STATES, job_states
from twin.files.job_table import field_of, some_of
from twin.files.jobs_jsonl import job_to_dict
from twin.models import Run
from twin.scenarios import store


class Column(NamedTuple):
    """Column of the table: its key in rows and in the query, its title, and the format of its values."""

    key: str
    title: str
    format: str  # text | clock | duration | number
    field: str | None = None  # of Job, where the value is a field of the job's record


COLUMNS = (  # from left to right; a new column is one line here
    Column("model", "Model", "text", field="model"),
    Column("arrived_ms", "Arrived", "clock"),
    Column("start_ms", "Start", "clock"),
    Column("finish_ms", "Planned finish", "clock"),
    Column("completed_ms", "Completed", "clock"),
    Column("jct_ms", "JCT", "duration"),
    Column("limit_ms", "Time limit", "duration", field="limit_ms"),
)
FIELDS = {column.key: column.field for column in COLUMNS if column.field}
SORTS = ("index", "id", *(column.key for column in COLUMNS), "decided_ms", "utility")
MAX_ROWS = 500


def page(run: Run, asked: Mapping[str, str]) -> dict[str, Any]:
    """{count, page, size, rows}; asked: q (part of id or model), state, sort (- for descending), page, size, at_ms."""
    size = number(asked, "size", 50, 1, MAX_ROWS)
    wanted = asked.get("state", "")
    sort = asked.get("sort", "index")
    if wanted and wanted not in STATES:
        raise ModelError(f"state must be one of {', '.join(STATES)}, got {wanted!r}")
    if sort.lstrip("-") not in SORTS:
        raise ModelError(
            f"sort must be one of {', '.join(SORTS)}, with the prefix - for descending order, got {sort!r}"
        )
    _, jobs = store.of_run(run)
    with Newest(run) as state:
        at_ms = number(asked, "at_ms", state.sim_ms, 0, 2**62)
        codes, grouped = job_states(state, at_ms), members(state, at_ms)
        known = _known(state, at_ms) if at_ms < state.sim_ms else state.jobs.rows
        chosen = _chosen(jobs, codes, wanted, asked.get("q", "").strip().lower())
        chosen = _sorted(chosen, jobs, known, sort)
        at = number(asked, "page", 1, 1, max(1, -(-len(chosen) // size)))
        shown = chosen[(at - 1) * size : at * size].tolist()
        rows = [
            _row(i, job, known[i], state.verdicts[i], STATES[codes[i]]) | ({"here": grouped[i]} if i in grouped else {})
            for i, job in zip(shown, some_of(jobs, shown), strict=True)
        ]
        decisions = newest_decisions(state, shown, at_ms) if run.mode == Run.MIRROR else {}
    reasons = sentences(run, decisions)
    for row in rows:
        if row["index"] in reasons:
            row["reason"] = reasons[row["index"]]
    return {"count": len(chosen), "total": int((codes >= 0).sum()), "page": at, "size": size, "rows": rows}


def story(run: Run, index: int, at_ms: int | None = None) -> dict[str, Any] | None:
    """The job's fields with their provenance, decisions as sentences, bars, utility and the price of its plan.

    With at_ms as known at that time. None if there is no such job. For a job in groups also `stretches`.
    """
    cluster, jobs = store.of_run(run)
    if index >= len(jobs):
        return None
    job = jobs[index]
    with Newest(run) as state:
        then = state.sim_ms if at_ms is None else min(at_ms, state.sim_ms)
        known = state.jobs.rows if at_ms is None else _known(state, then)
        arrived = index < len(known) and 0 <= known[index, 0] <= then
        code = STATES[job_states(state, then)[index]] if arrived else "not arrived"
        verdict = state.verdicts[index] if arrived else None
        row = (
            _row(index, job, known[index], verdict, code) if arrived else {"index": index, "id": job.id, "state": code}
        )
        bars = state.bars.rows[state.bars.rows[:, 0] == index]
        if at_ms is not None:
            bars = bars[_true_at(bars, then)]
            bars[:, DIED] = NEVER  # their outcome was not known yet
        spent = stretches(state, index) if state.groups else None
        times = state.jobs.rows[index] if arrived else None
        since, until = (0, None) if times is None else (int(times[0]), int(times[4]) if times[4] >= 0 else None)
    fields = job_to_dict(job)
    provenance = fields.pop("provenance", {})
    until = until if at_ms is None else min(then, then if until is None else until)
    decisions = _decisions(run, index, since, until, [server.name for server in cluster.servers]) if arrived else []
    if arrived and at_ms is not None and decisions:
        row |= {"verdict": decisions[-1]["kind"], "code": decisions[-1]["code"]}
    return {
        **row,
        "at_ms": at_ms,
        "fields": [
            {"name": name, "value": value, "provenance": provenance.get(name, "")} for name, value in fields.items()
        ],
        "worth": _worth(job, cluster.slot_ms),
        "decisions": [decision for decision in decisions if decision["at_ms"] <= then],
        "bar_fields": BAR_FIELDS,
        "bars": bars.tolist(),
        **({} if spent is None else {"stretches": spent}),
    }


def _worth(job: Job, slot_ms: int) -> dict[str, Any] | None:
    """Parameters of a job's utility curve: {slot_ms, from_slot, priority, sensitivity, target_slots}."""
    if job.utility is None:
        return None
    u = job.utility
    from_slot = arrival_slot(job.arrival_ms, slot_ms)
    numbers = {"priority": u.priority, "sensitivity": u.sensitivity, "target_slots": u.target_slots}
    return {"slot_ms": slot_ms, "from_slot": from_slot, **numbers}


def _true_at(bars: np.ndarray, at_ms: int) -> np.ndarray:
    """Mask [bar] of the bars that are visible at a time."""
    return (bars[:, BORN] <= at_ms) & ((bars[:, DIED] < 0) | (bars[:, DIED] > at_ms))


def _known(state: RunState, at_ms: int) -> np.ndarray:
    """Rows of jobs as known at a time: start and finish from the plan of that time, nothing that happened later."""
    rows = state.jobs.rows.copy()
    bars = state.bars.rows
    bars = bars[_true_at(bars, at_ms) & (bars[:, 1] == WORKER)]
    starts, ends = np.full(len(rows), np.inf), np.full(len(rows), -1.0)
    np.minimum.at(starts, bars[:, 0], bars[:, START])
    np.maximum.at(ends, bars[:, 0], bars[:, END])
    rows[:, 2], rows[:, 3] = np.where(np.isinf(starts), NEVER, starts), ends
    for column in (JOB_FIELDS.index(name) for name in ("decided_ms", "completed_ms", "rejected_ms")):
        rows[rows[:, column] > at_ms, column] = NEVER
    rows[rows[:, 4] < 0, 5] = 0.0
    return rows


def number(asked: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """An integer of the query, within its bounds."""
    text = asked.get(name, "")
    if text == "":
        return min(max(default, low), high)
    try:
        value = int(text)
    except ValueError:
        raise ModelError(f"{name} must be an integer, got {text!r}") from None
    if value < low:
        raise ModelError(f"{name} must be at least {low}, got {value}")
    return min(value, high)


def _chosen(jobs: Sequence[Job], codes: np.ndarray, wanted: str, query: str) -> np.ndarray:
    chosen = np.flatnonzero(codes == STATES.index(wanted)) if wanted else np.flatnonzero(codes >= 0)
    if query:
        ids, models = field_of(jobs, "id"), field_of(jobs, "model")
        named = [i for i in chosen.tolist() if query in ids[i].lower() or query in models[i].lower()]
        chosen = np.array(named, dtype=np.int64)
    return chosen


def _sorted(chosen: np.ndarray, jobs: Sequence[Job], rows: np.ndarray, sort: str) -> np.ndarray:
    name = sort.lstrip("-")
    if name == "index":
        keys: Any = chosen
    elif name == "id" or name in FIELDS:
        keys = _comparable(field_of(jobs, FIELDS.get(name, name)))[chosen]
    else:
        columns = dict(zip(JOB_FIELDS, rows.T, strict=True))
        columns["jct_ms"] = np.where(columns["completed_ms"] >= 0, columns["completed_ms"] - columns["arrived_ms"], -1)
        keys = columns[name][chosen]
    order = np.argsort(keys, kind="stable")
    return chosen[order[::-1] if sort.startswith("-") else order]


def _comparable(values: Sequence[Any]) -> np.ndarray:
    """Sort key of a field; None is less than all others."""
    known = sorted({value for value in values if value is not None})
    places = {value: place for place, value in enumerate(known)}
    return np.array([places.get(value, -1) for value in values], dtype=np.int64)


def _row(index: int, job: Job, times_of: np.ndarray, verdict: list[str] | None, code: str) -> dict[str, Any]:
    times = dict(zip(JOB_FIELDS, times_of.tolist(), strict=True))
    utility, arrived, completed = times.pop("utility"), times["arrived_ms"], times["completed_ms"]
    verdict = verdict if times["decided_ms"] >= 0 else None
    return {
        "index": index,
        "id": job.id,
        **{key: getattr(job, field) for key, field in FIELDS.items()},
        "state": code,
        **{name: None if value < 0 else int(value) for name, value in times.items()},
        "jct_ms": int(completed - arrived) if completed >= 0 else None,
        "utility": utility if job.utility is not None else None,
        "requested_workers": job.requested_workers,
        "verdict": verdict[1] if verdict else None,
        "code": verdict[2] if verdict else None,
    }


def _decisions(
    run: Run, index: int, since_ms: int, until_ms: int | None, servers: Sequence[str]
) -> list[dict[str, Any]]:
    """Each decision about the job with its sentence, from the batches of the log that touch its lifetime."""
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
