"""Table of a run's jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dashboard.query import moment_of, number, page_of, sort_of
from dashboard.readmodels.colocation import members
from scheduling.model.held import size_at
from scheduling.model.values import Job, ModelError
from scheduling.reporting.metric_table import BY_KEY
from twin.analysis import stored_levels
from twin.analysis.job_reasons import newest_decisions, outcomes, sentences, verdicts
from twin.eventlog import large_runs
from twin.eventlog.fold import (
    AT,
    COMPLETED_AT,
    DECIDED_AT,
    FINISH_AT,
    FINISH_MS,
    JOB_FIELDS,
    JOB_OF,
    LATEST_CODE,
    LATEST_KIND,
    NEVER,
    REJECTED_AT,
    START_AT,
    START_MS,
    UTILITY,
    RunState,
)
from twin.eventlog.job_states import STATES, job_states, state_name
from twin.eventlog.large_runs import is_large
from twin.eventlog.state_cache import Newest
from twin.files.stored_jobs import any_utility, field_of, some_of
from twin.models import Run
from twin.scenarios import store


class Column(NamedTuple):
    """Column of the table: its key in rows and in the query, its title, and the format of its values.

    The value is a field of the job's record (`field`), or computed from its times (`value`), or the time with this key.
    """

    key: str
    title: str
    format: str  # text | clock | duration | number | utility: a number, shown once the job has completed
    field: str | None = None  # of Job
    value: Callable[[Mapping[str, Any]], Any] | None = None  # of {name in JOB_FIELDS: times}; NEVER where there is none
    ahead: bool = False  # only of runs whose log states what is to come (RunMode.looks_ahead)

    @property
    def declared(self) -> dict[str, str]:
        """The column as answers declare it, from which pages make their table."""
        return {"key": self.key, "title": self.title, "format": self.format}

    def told(self, jobs: Sequence[Job]) -> bool:
        """True if the column can have a value: some job has a utility, or a field that is not the default."""
        if self.format == "utility":
            return any_utility(jobs)
        unset = self.field and Job.__dataclass_fields__[self.field].default
        return self.field is None or any(value not in (None, unset) for value in field_of(jobs, self.field))


def _jct_ms(times: Mapping[str, Any]) -> Any:
    return np.where(times["completed_ms"] >= 0, times["completed_ms"] - times["arrived_ms"], NEVER)


COLUMNS: tuple[Column, ...] = (  # from left to right; a new column is one line here
    Column("model", "Model", "text", field="model"),
    Column("arrived_ms", "Arrival", "clock"),
    Column("start_ms", "Start", "clock"),
    Column("finish_ms", "Planned finish", "clock", ahead=True),
    Column("completed_ms", "Completion", "clock"),
    Column("jct_ms", BY_KEY["jct_ms"].title, "duration", value=_jct_ms),
    Column("limit_ms", "Time limit", "duration", field="limit_ms"),
    Column("utility", BY_KEY["utility"].title, "utility"),
)
MAX_ROWS = 500


def page(run: Run, asked: Mapping[str, str]) -> dict[str, Any]:
    """{at_ms, count, total, page, size, rows}; asked: q (part of id or model), state, sort (- for descending), page,
    size, at_ms. The answer's at_ms is the time it shows: the newest where a later one is asked for.
    """
    size = number(asked, "size", 50, 1, MAX_ROWS)
    wanted = asked.get("state", "")
    sort, falling = sort_of(asked, ("index", "id", *(column.key for column in COLUMNS), "decided_ms"))
    if wanted and wanted not in STATES:
        raise ModelError(f"state must be one of {', '.join(STATES)}, got {wanted!r}")
    if is_large(run):
        return _of_large_run(run, store.of_run(run)[1], asked, wanted, (sort, falling), size)
    with Newest(run) as state:
        _, jobs = store.of_run(run)
        at_ms = moment_of(asked, max(state.sim_ms, run.sim_ms))
        codes, grouped = job_states(state, at_ms), members(state, at_ms)
        known = known_at(state, at_ms) if at_ms < state.sim_ms else state.jobs.rows
        chosen = _chosen(jobs, codes, wanted, asked.get("q", "").strip().lower())
        chosen = _sorted(chosen, jobs, known, sort, falling)
        at = page_of(asked, len(chosen), size)
        shown = chosen[(at - 1) * size : at * size].tolist()
        rows = [
            row_of(i, size_at(job, at_ms), known[i], state.verdicts[i], state_name(codes[i]))
            | ({"here": grouped[i]} if i in grouped else {})
            for i, job in zip(shown, some_of(jobs, shown), strict=True)
        ]
        past = at_ms < state.sim_ms
        decisions = newest_decisions(state, shown, at_ms) if past or run.mode_rules.gives_reasons else {}
    if past:  # what was decided by then, not what was decided last
        decided = verdicts(run, decisions)
        for row in rows:
            row["verdict"], row["code"] = decided.get(row["index"], (None, None))
    reasons = sentences(run, decisions) if run.mode_rules.gives_reasons else {}
    ends = outcomes(run, decisions) if run.mode_rules.gives_reasons else {}
    for row in rows:
        if row["index"] in reasons:
            row["reason"] = reasons[row["index"]]
        if row["index"] in ends:
            row["outcome"] = ends[row["index"]]
    total = int((codes >= 0).sum())
    return {"at_ms": at_ms, "count": len(chosen), "total": total, "page": at, "size": size, "rows": rows}


def _of_large_run(
    run: Run, jobs: Sequence[Job], asked: Mapping[str, str], wanted: str, sort: tuple[str, bool], size: int
) -> dict[str, Any]:
    """The same from the levels of detail, as of their event; without the members of groups."""
    found = stored_levels.of(run)
    if found is None or (asked.get("at_ms") and number(asked, "at_ms", 0, 0, 2**62) < found.meta["sim_ms"]):
        large_runs.check(run)  # a past time needs the whole state
    assert found is not None
    columns, words = found.columns, found.meta["words"]
    codes = columns["state"]
    known = np.stack([columns[name] for name in JOB_FIELDS], axis=1)
    chosen = _sorted(_chosen(jobs, codes, wanted, asked.get("q", "").strip().lower()), jobs, known, *sort)
    at = page_of(asked, len(chosen), size)
    shown = chosen[(at - 1) * size : at * size].tolist()
    rows = []
    for i, job in zip(shown, some_of(jobs, shown), strict=True):
        kind, code = columns["verdict"][i], columns["code"][i]
        verdict = ["", words[kind], words[code] if code >= 0 else ""] if kind >= 0 else None
        rows.append(row_of(i, job, known[i], verdict, STATES[codes[i]]))
    total, at_ms = int((codes >= 0).sum()), found.meta["sim_ms"]
    return {"at_ms": at_ms, "count": len(chosen), "total": total, "page": at, "size": size, "rows": rows}


def known_at(state: RunState, at_ms: int) -> np.ndarray:
    """Rows of jobs as known at a time: start and finish from the plan of that time, nothing that happened later."""
    rows = state.jobs.rows.copy()
    rows[:, [START_AT, FINISH_AT]] = NEVER
    plans = state.planned.rows
    plans = plans[plans[:, AT] <= at_ms]
    # of several plans of a job the last one is written last
    rows[plans[:, JOB_OF, None], [START_AT, FINISH_AT]] = plans[:, [START_MS, FINISH_MS]]
    for column in (DECIDED_AT, COMPLETED_AT, REJECTED_AT):
        rows[rows[:, column] > at_ms, column] = NEVER
    rows[rows[:, COMPLETED_AT] < 0, UTILITY] = 0.0
    return rows


def _chosen(jobs: Sequence[Job], codes: np.ndarray, wanted: str, query: str) -> np.ndarray:
    chosen = np.flatnonzero(codes == STATES.index(wanted)) if wanted else np.flatnonzero(codes >= 0)
    if query:
        ids, models = field_of(jobs, "id"), field_of(jobs, "model")
        named = [i for i in chosen.tolist() if query in ids[i].lower() or query in models[i].lower()]
        chosen = np.array(named, dtype=np.int64)
    return chosen


def _sorted(chosen: np.ndarray, jobs: Sequence[Job], rows: np.ndarray, name: str, falling: bool) -> np.ndarray:
    column = next((column for column in COLUMNS if column.key == name), None)
    field = "id" if name == "id" else column and column.field
    if name == "index":
        keys: Any = chosen
    elif field:
        keys = _comparable(field_of(jobs, field))[chosen]
    else:
        times = dict(zip(JOB_FIELDS, rows.T, strict=True))
        keys = (column.value(times) if column and column.value else times[name])[chosen]
    order = np.argsort(keys, kind="stable")
    return chosen[order[::-1] if falling else order]


def _comparable(values: Sequence[Any]) -> np.ndarray:
    """Sort key of a field; None is less than all others."""
    known = sorted({value for value in values if value is not None})
    places = {value: place for place, value in enumerate(known)}
    return np.array([places.get(value, -1) for value in values], dtype=np.int64)


def row_of(index: int, job: Job, times_of: np.ndarray, verdict: list[str] | None, code: str | None) -> dict[str, Any]:
    times = dict(zip(JOB_FIELDS, times_of.tolist(), strict=True))
    computed = {column.key: column.value(times) for column in COLUMNS if column.value}
    utility = times.pop("utility")
    verdict = verdict if times["decided_ms"] >= 0 else None
    return {
        "index": index,
        "id": job.id,
        **{column.key: getattr(job, column.field) for column in COLUMNS if column.field},
        "state": code,
        **{name: None if value < 0 else int(value) for name, value in (times | computed).items()},
        "utility": utility if job.utility is not None else None,
        "requested_workers": job.requested_workers,
        "verdict": verdict[LATEST_KIND] if verdict else None,
        "code": verdict[LATEST_CODE] if verdict else None,
    }
