"""Jobs that wait and for how long, jobs that start and finish next, and jobs that were rejected, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.bars import END, JOB, ROLE, START
from scheduling.model.values import Job
from twin.analysis.job_reasons import newest_decisions, sentences
from twin.eventlog.fold import (
    ARRIVED,
    FINISH_AT,
    LATEST_CODE,
    NEVER,
    REJECTED_AT,
    START_AT,
    WORKER,
    RunState,
    valid_at,
)
from twin.eventlog.job_states import (
    MOVING,
    PLANNED,
    PROFILING,
    QUEUED,
    REJECTED,
    RUNNING,
    STATES,
    SUSPENDED,
    waits_again,
    waits_until,
)
from twin.eventlog.memberships import intervals
from twin.files.stored_jobs import some_of
from twin.models import Forecasting, Run

HELD = (RUNNING, MOVING, PROFILING, SUSPENDED)  # states of jobs that have begun
PLANNED_START, PLANNED_FINISH = "start", "finish"
FORECAST_START, FORECAST_FINISH = "forecast", "forecast_finish"
KINDS = (PLANNED_START, PLANNED_FINISH, FORECAST_START, FORECAST_FINISH)
MAX_WAITING, MAX_NEXT, MAX_REASONS = 6, 8, 4


class Expected(NamedTuple):
    """The newest forecast of a live cluster, by jobs. never: why a waiting job has no start in it."""

    starts: Mapping[int, int]
    finishes: Mapping[int, int]
    never: Mapping[int, str]


def counts(codes: np.ndarray) -> dict[str, int]:
    """{state: number of jobs that have arrived}."""
    return dict(zip(STATES, np.bincount(codes[codes >= 0], minlength=len(STATES)).tolist(), strict=True))


def forecast(run: Run, at_ms: int) -> Expected:
    """The newest forecast of a live cluster; empty for other runs.

    A start or finish that has not come true by now is expected at any time: it is put right after now.
    """
    kept = Forecasting.objects.filter(run=run).only("rows", "ends").first() if run.mode_rules.forecast else None
    rows, ends = ([], []) if kept is None else (kept.rows, kept.ends)
    return Expected(
        {row["job"]: max(row["start_ms"], at_ms + 1) for row in rows if row["start_ms"] is not None},
        {row["job"]: max(row["finish_ms"], at_ms + 1) for row in ends},
        {row["job"]: row["never"] for row in rows if row["start_ms"] is None},
    )


def waiting(codes: np.ndarray) -> np.ndarray:
    """Indexes of the jobs that wait: they have not begun, or their cluster has requeued them."""
    return np.flatnonzero((codes == QUEUED) | (codes == PLANNED))


def waiting_since(state: RunState, jobs: np.ndarray, at_ms: int) -> np.ndarray:
    """[waiting job] arrival, or the end of the execution after which its cluster requeued it."""
    since = state.jobs.rows[:, ARRIVED].astype(np.int64)
    again = waits_again(state)
    begun = again.start_ms <= at_ms
    np.maximum.at(since, again.job[begun], again.start_ms[begun])
    return since[jobs]


def suspended(state: RunState, codes: np.ndarray, at_ms: int) -> np.ndarray:
    """[suspended job] (since, index), those suspended for the longest time first."""
    chosen = np.flatnonzero(codes == SUSPENDED)
    since = np.zeros(len(codes), dtype=np.int64)
    if len(chosen):
        bars = state.bars.rows
        past = (bars[:, ROLE] == WORKER) & (bars[:, START] <= at_ms) & valid_at(bars, at_ms)
        np.maximum.at(since, bars[past, JOB], np.minimum(bars[past, END], at_ms))
        for _, until_ms, data in intervals(state, at_ms):
            since[data["jobs"]] = np.maximum(since[data["jobs"]], at_ms if until_ms == NEVER else until_ms)
        for job, from_ms in state.suspended_since(at_ms).items():
            since[job] = from_ms
    chosen = chosen[since[chosen].argsort(kind="stable")]
    return np.stack([since[chosen], chosen], axis=1)


def waits(
    run: Run, state: RunState, jobs: Sequence[Job], codes: np.ndarray, at_ms: int, expected: Expected
) -> dict[str, Any]:
    """{total, oldest}: jobs that wait, those that wait for the longest time first, with the reason.

    start_ms: the planned start; forecast_ms: the expected start of a job of a live cluster; never: why it has none.
    """
    rows, found = state.jobs.rows, waiting(codes)
    since = waiting_since(state, found, at_ms)
    order = since.argsort(kind="stable")
    found, since = found[order], since[order]
    first = found[:MAX_WAITING].tolist()
    said = sentences(run, newest_decisions(state, first, at_ms)) if first else {}
    return {
        "total": len(found),
        "oldest": [
            {
                "job": index, "id": job.id, "state": STATES[codes[index]],
                "since_ms": since_ms,
                "start_ms": int(rows[index, START_AT]) if rows[index, START_AT] > at_ms else None,
                "forecast_ms": expected.starts.get(index),
                "never": expected.never.get(index, ""),
                "sentence": said.get(index, ""),
            }
            for index, since_ms, job in zip(first, since.tolist(), some_of(jobs, first), strict=False)
        ],
    }  # fmt: skip


def curve(state: RunState, codes: np.ndarray, from_ms: int, to_ms: int, points: int) -> dict[str, Any]:
    """{at_ms, waiting, rejected}: number of jobs that wait at evenly spaced times, and of those rejected by then."""
    times = np.linspace(max(0, from_ms), to_ms, points).astype(np.int64)
    there = codes >= 0
    rows = state.jobs.rows[there]
    arrived = rows[:, ARRIVED]
    again = waits_again(state)
    of_arrived = there[again.job]
    begins = np.sort(np.concatenate((arrived, again.start_ms[of_arrived])))
    first_ends = np.maximum(arrived, waits_until(state)[there])
    ends = np.sort(np.concatenate((first_ends, again.end_ms[of_arrived])))
    rejected = np.sort(rows[rows[:, REJECTED_AT] >= 0, REJECTED_AT])
    waiting = np.searchsorted(begins, times, side="right") - np.searchsorted(ends, times, side="right")
    return {
        "at_ms": times.tolist(),
        "waiting": waiting.tolist(),
        "rejected": np.searchsorted(rejected, times, side="right").tolist(),
    }


def upcoming(
    state: RunState, jobs: Sequence[Job], codes: np.ndarray, at_ms: int, expected: Expected
) -> list[dict[str, Any]]:
    """The next starts and finishes that are planned, and those that are forecast, the earliest first."""
    rows = state.jobs.rows
    found: list[tuple[int, str, int]] = []
    for column, kind, states in ((START_AT, PLANNED_START, (QUEUED, PLANNED)), (FINISH_AT, PLANNED_FINISH, HELD)):
        chosen = np.flatnonzero(np.isin(codes, states) & (rows[:, column] > at_ms) & (rows[:, column] < 2**53))
        chosen = chosen[rows[chosen, column].argsort(kind="stable")][:MAX_NEXT]
        found += [(int(rows[i, column]), kind, i) for i in chosen.tolist()]
    for times, kind, now in ((expected.starts, FORECAST_START, QUEUED), (expected.finishes, FORECAST_FINISH, RUNNING)):
        found += [(when, kind, i) for i, when in times.items() if i < len(codes) and codes[i] == now]
    found = sorted(found)[:MAX_NEXT]
    shown = some_of(jobs, [index for _, _, index in found])
    return [
        {"at_ms": when, "kind": kind, "job": index, "id": job.id}
        for (when, kind, index), job in zip(found, shown, strict=True)
    ]


def rejected(state: RunState, codes: np.ndarray, since_ms: int) -> dict[str, Any]:
    """{total, recent, reasons}: rejected jobs, those of the window, and codes of their reasons, most frequent first."""
    out = np.flatnonzero(codes == REJECTED)
    recent = out[state.jobs.rows[out, REJECTED_AT] > since_ms].tolist()
    verdicts = [state.verdicts[index] for index in recent]
    found = Counter(verdict[LATEST_CODE] for verdict in verdicts if verdict is not None)
    return {
        "total": len(out),
        "recent": len(recent),
        "reasons": [{"code": code, "jobs": count} for code, count in found.most_common(MAX_REASONS)],
    }
