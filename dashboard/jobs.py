"""The table of a run's jobs, and one job's whole story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.memberships import members, stretches
from dashboard.states import Newest
from scheduling.model import Job, ModelError
from scheduling.reasons import sentence
from scheduling.utility import arrival_slot
from twin import eventlog, scenarios
from twin.formats.jobs_jsonl import job_to_dict
from twin.models import Run
from twin.state import BAR_FIELDS, BORN, DIED, END, NEVER, START, WORKER, RunState

STATES = (
    "queued", "planned", "running", "suspended", "completed", "rejected", "unfinished",
    "profiling", "moving", "paused",  # of jobs in groups; there a suspended one is paused
)  # fmt: skip
SORTS = ("index", "id", "model", "arrived_ms", "decided_ms", "start_ms", "finish_ms", "completed_ms", "jct_ms", "utility")
MOST_ROWS = 500


def page(run: Run, asked: Mapping[str, str]) -> dict[str, Any]:
    """{count, page, size, rows}; asked: q (part of id or model), state, sort (- for descending), page, size, at_ms."""
    size = number(asked, "size", 50, 1, MOST_ROWS)
    wanted = asked.get("state", "")
    sort = asked.get("sort", "index")
    if wanted and wanted not in STATES:
        raise ModelError(f"state must be one of {', '.join(STATES)}, got {wanted!r}")
    if sort.lstrip("-") not in SORTS:
        raise ModelError(f"sort must be one of {', '.join(SORTS)}, with - before it for descending, got {sort!r}")
    _, jobs = scenarios.of_run(run)
    with Newest(run) as state:
        at_ms = number(asked, "at_ms", state.sim_ms, 0, 2**62)
        codes, grouped = states(state, at_ms), members(state, at_ms)
        known = _known(state, at_ms) if at_ms < state.sim_ms else state.jobs.rows
        chosen = _chosen(jobs, codes, wanted, asked.get("q", "").strip().lower())
        chosen = _sorted(chosen, jobs, known, sort)
        at = number(asked, "page", 1, 1, max(1, -(-len(chosen) // size)))
        rows = [
            _row(i, jobs[i], known[i], state.verdicts[i], STATES[codes[i]]) | ({"here": grouped[i][1]} if i in grouped else {})
            for i in chosen[(at - 1) * size : at * size].tolist()
        ]
    return {"count": len(chosen), "total": int((codes >= 0).sum()), "page": at, "size": size, "rows": rows}


def story(run: Run, index: int, at_ms: int | None = None) -> dict[str, Any] | None:
    """The job's fields with their provenance, its decisions as sentences, its bars, its utility and the price of its plan.

    With at_ms as far as it was known at that moment. None if there is no such job. Of a job in groups also `stretches`.
    """
    cluster, jobs = scenarios.of_run(run)
    if index >= len(jobs):
        return None
    job = jobs[index]
    with Newest(run) as state:
        then = state.sim_ms if at_ms is None else min(at_ms, state.sim_ms)
        known = state.jobs.rows if at_ms is None else _known(state, then)
        arrived = index < len(known) and 0 <= known[index, 0] <= then
        code = STATES[states(state, then)[index]] if arrived else "not arrived"
        verdict = state.verdicts[index] if arrived else None
        row = _row(index, job, known[index], verdict, code) if arrived else {"index": index, "id": job.id, "state": code}
        bars = state.bars.rows[state.bars.rows[:, 0] == index]
        if at_ms is not None:
            bars = bars[_true_at(bars, then)]
            bars[:, DIED] = NEVER  # what became of them was not known yet
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
        "fields": [{"name": name, "value": value, "provenance": provenance.get(name, "")} for name, value in fields.items()],
        "worth": _worth(job, cluster.slot_ms),
        "decisions": [decision for decision in decisions if decision["at_ms"] <= then],
        "bar_fields": BAR_FIELDS,
        "bars": bars.tolist(),
        **({} if spent is None else {"stretches": spent}),
    }


def _worth(job: Job, slot_ms: int) -> dict[str, Any] | None:
    """What the curve of a job's utility is drawn from: {slot_ms, from_slot, priority, sensitivity, target_slots}."""
    if job.utility is None:
        return None
    u = job.utility
    from_slot = arrival_slot(job.arrival_ms, slot_ms)
    numbers = {"priority": u.priority, "sensitivity": u.sensitivity, "target_slots": u.target_slots}
    return {"slot_ms": slot_ms, "from_slot": from_slot, **numbers}


def _true_at(bars: np.ndarray, at_ms: int) -> np.ndarray:
    """[bar] whether it belongs to the picture at a moment."""
    return (bars[:, BORN] <= at_ms) & ((bars[:, DIED] < 0) | (bars[:, DIED] > at_ms))


def _known(state: RunState, at_ms: int) -> np.ndarray:
    """The rows of jobs as they were known at a moment: start and finish from the plan of then, and nothing that lay ahead."""
    rows = state.jobs.rows.copy()
    bars = state.bars.rows
    bars = bars[_true_at(bars, at_ms) & (bars[:, 1] == WORKER)]
    starts, ends = np.full(len(rows), np.inf), np.full(len(rows), -1.0)
    np.minimum.at(starts, bars[:, 0], bars[:, START])
    np.maximum.at(ends, bars[:, 0], bars[:, END])
    rows[:, 2], rows[:, 3] = np.where(np.isinf(starts), NEVER, starts), ends
    for column in (1, 4):  # decided, completed
        rows[rows[:, column] > at_ms, column] = NEVER
    rows[rows[:, 4] < 0, 5] = 0.0
    return rows


def states(state: RunState, at_ms: int) -> np.ndarray:
    """[job] position in STATES at a moment; jobs that arrive later are -1."""
    jobs = state.jobs.rows
    arrived, decided, start, _, completed, _ = jobs.T
    first = np.array([verdict[0] if verdict else "" for verdict in state.verdicts], dtype=object)
    bars = state.bars.rows
    covers = (bars[:, 1] == 0) & (bars[:, 3] <= at_ms) & (bars[:, 4] > at_ms) & (bars[:, 9] <= at_ms)
    covers &= (bars[:, 10] < 0) | (bars[:, 10] > at_ms)
    running = np.zeros(len(jobs), dtype=bool)
    running[bars[covers, 0]] = True
    known = (decided >= 0) & (decided <= at_ms)
    codes = np.zeros(len(jobs), dtype=np.int64)
    codes[known] = STATES.index("planned")
    codes[known & (start >= 0) & (start <= at_ms)] = STATES.index("suspended")
    codes[running] = STATES.index("running")
    if state.groups:
        codes[codes == STATES.index("suspended")] = STATES.index("paused")
        for job, (doing, _) in members(state, at_ms).items():
            codes[job] = STATES.index(doing)
    if state.finished and at_ms >= state.sim_ms:
        codes[np.isin(codes, (STATES.index("suspended"), STATES.index("paused")))] = STATES.index("unfinished")
    codes[known & (first == "unfinished")] = STATES.index("unfinished")
    codes[known & (first == "rejected")] = STATES.index("rejected")
    codes[(completed >= 0) & (completed <= at_ms)] = STATES.index("completed")
    codes[(arrived < 0) | (arrived > at_ms)] = -1
    return codes


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
        chosen = np.array(
            [i for i in chosen.tolist() if query in jobs[i].id.lower() or query in jobs[i].model.lower()], dtype=np.int64
        )
    return chosen


def _sorted(chosen: np.ndarray, jobs: Sequence[Job], rows: np.ndarray, sort: str) -> np.ndarray:
    name = sort.lstrip("-")
    if name == "index":
        keys: Any = chosen
    elif name in ("id", "model"):
        keys = np.array([getattr(jobs[i], name) for i in chosen.tolist()])
    else:
        columns = dict(zip(("arrived_ms", "decided_ms", "start_ms", "finish_ms", "completed_ms", "utility"), rows.T, strict=True))
        columns["jct_ms"] = np.where(columns["completed_ms"] >= 0, columns["completed_ms"] - columns["arrived_ms"], -1)
        keys = columns[name][chosen]
    order = np.argsort(keys, kind="stable")
    return chosen[order[::-1] if sort.startswith("-") else order]


def _row(index: int, job: Job, times_of: np.ndarray, verdict: list[str] | None, code: str) -> dict[str, Any]:
    arrived, decided, start, finish, completed, utility = times_of.tolist()
    verdict = verdict if decided >= 0 else None
    times = {"arrived_ms": arrived, "decided_ms": decided, "start_ms": start, "finish_ms": finish, "completed_ms": completed}
    return {
        "index": index,
        "id": job.id,
        "model": job.model,
        "state": code,
        **{name: None if value < 0 else int(value) for name, value in times.items()},
        "jct_ms": int(completed - arrived) if completed >= 0 else None,
        "utility": utility,
        "requested_workers": job.requested_workers,
        "verdict": verdict[1] if verdict else None,
        "code": verdict[2] if verdict else None,
    }


def _decisions(run: Run, index: int, since_ms: int, until_ms: int | None, servers: Sequence[str]) -> list[dict[str, Any]]:
    """Each decision about the job with its sentence, from the batches of the log that touch its lifetime."""
    first = run.batches.filter(last_ms__gte=since_ms).values_list("first_seq", flat=True).first()
    found: list[dict[str, Any]] = []
    if first is None:
        return found
    for lines, _ in eventlog.lines_and_bars(run.pk, first - 1, up_to_ms=until_ms):
        for seq, at_ms, kind, data in lines:
            if kind == "decided" and data["job"] == index:
                text = sentence(data["code"], data["values"], servers)
                found.append(
                    {
                        "seq": seq,
                        "at_ms": at_ms,
                        "kind": data["kind"],
                        "code": data["code"],
                        "values": data["values"],
                        "sentence": text,
                    }
                )
    return found
