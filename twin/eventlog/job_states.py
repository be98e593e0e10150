"""State of each job at a given time, with the same names in tables, tiles, charts and comparisons.

static/js/core/job-state.js follows the same rules; tests/fixtures/job_states.json pins both.

queued       has arrived, has not run yet, and no plan lets it run: undecided, or its plan was withdrawn; or a real
             cluster has requeued it, and it waits again
planned      has not run yet, and a plan lets it run later
profiling    is in a group, while its times are measured
moving       is in a group, while its model and input are transferred
running      has a worker that runs
suspended    has run and is not done, no worker of it runs, and its plan has no end by now; of a real cluster: only if
             that has suspended it, whatever it holds
completed    has ended with its work done; a job of a real cluster has ended, in whatever way
rejected     never runs, or never again: also one that was admitted, and that another scheduler turned away
unfinished   was neither completed nor rejected when the run ended

A job of a real cluster has no known state (UNSEEN) before the cluster was observed for the first time.
"""

from __future__ import annotations

import numpy as np

from scheduling.model.bars import END, JOB, ROLE, START, Role
from scheduling.model.spans import Spans, union
from twin.eventlog import memberships
from twin.eventlog.fold import (
    BORN,
    COMPLETED_AT,
    DIED,
    FINISH_AT,
    JOB_FIELDS,
    NEVER,
    REJECTED_AT,
    START_AT,
    WORKER,
    RunState,
    valid_at,
)

STATES = ("queued", "planned", "profiling", "moving", "running", "suspended", "completed", "rejected", "unfinished")
QUEUED, PLANNED, PROFILING, MOVING, RUNNING, SUSPENDED, COMPLETED, REJECTED, UNFINISHED = range(len(STATES))
ABSENT = -1  # has not arrived
OPEN = 2**53  # end of a wait that has not ended
UNSEEN = len(STATES)  # has arrived, at a time at which its cluster was not observed yet


def job_states(state: RunState, at_ms: int) -> np.ndarray:
    """[job] place in STATES at a moment, or ABSENT or UNSEEN."""
    happened = {
        name: (times >= 0) & (times <= at_ms) for name, times in zip(JOB_FIELDS, state.jobs.rows.T, strict=True)
    }
    ran, doing, planned = _work(state, at_ms)
    codes = np.where(planned, PLANNED, QUEUED)
    codes[ran] = QUEUED if state.restated else SUSPENDED
    ends = happened["finish_ms"] & ~_ended_waiting(state)
    codes[ran & ends] = RUNNING  # it ends at this instant: the event of its end is still to come
    codes = np.where(doing != ABSENT, doing, codes)
    if state.finished and at_ms >= state.sim_ms:
        codes[:] = UNFINISHED
    codes[happened["rejected_ms"]] = REJECTED
    codes[happened["completed_ms"]] = COMPLETED
    if at_ms < state.seen_from_ms:
        codes[:] = UNSEEN
    codes[~happened["arrived_ms"]] = ABSENT
    return codes


def state_name(code: int) -> str | None:
    """Name of the state of a job that has arrived; None where it is not known."""
    return None if code == UNSEEN else STATES[code]


def waits_until(state: RunState) -> np.ndarray:
    """[job] end of its first wait: `job_states` has it neither queued nor planned; infinite if it has not come."""
    rows, bars = state.jobs.rows, state.bars.rows
    until = np.full(state.jobs.length, np.inf)
    bars = bars[bars[:, ROLE] == WORKER]
    began_ms = np.maximum(bars[:, START], bars[:, BORN])
    seen = (bars[:, DIED] == NEVER) | (bars[:, DIED] > began_ms)
    np.minimum.at(until, bars[seen, JOB], began_ms[seen])
    unplaced = rows[:, START_AT] >= 0
    unplaced[state.bars.rows[:, JOB]] = False
    until[unplaced] = rows[unplaced, START_AT]
    for from_ms, _, data in memberships.intervals(state):
        until[data["jobs"]] = np.minimum(until[data["jobs"]], from_ms)
    for column in (COMPLETED_AT, REJECTED_AT):
        until = np.minimum(until, np.where(rows[:, column] >= 0, rows[:, column], np.inf))
    return np.minimum(until, state.sim_ms) if state.finished else until


def waits_again(state: RunState) -> Spans:
    """Waits of jobs of a real cluster after a requeue; until further notice, they end at OPEN."""
    bars = state.bars.rows
    bars = bars[np.isin(bars[:, ROLE], (WORKER, Role.SUSPENDED)) & (bars[:, DIED] == NEVER) & state.restated]
    job, start, end = union(bars[:, JOB], bars[:, START], bars[:, END])
    until = np.full(len(job), OPEN)
    more = np.flatnonzero(job[1:] == job[:-1])
    until[more] = start[more + 1]
    finish_ms = state.jobs.rows[job, FINISH_AT].astype(np.int64)
    ends = (finish_ms >= 0) & ~_ended_waiting(state)[job]
    until = np.where(ends, np.minimum(until, finish_ms), until)
    stated = _stated_waits(state)
    job, end, until = (np.concatenate(pair) for pair in zip((job, end, until), stated, strict=True))
    rows = state.jobs.rows[job]
    for column in (COMPLETED_AT, REJECTED_AT):
        until = np.where(rows[:, column] >= 0, np.minimum(until, rows[:, column].astype(np.int64)), until)
    if state.finished:
        until = np.minimum(until, state.sim_ms)
    idle = end < until
    return Spans(job[idle], end[idle], until[idle])


def _stated_waits(state: RunState) -> Spans:
    """Waits of requeued jobs without bars, by the decisions of their cluster."""
    waits = _requeues(state)
    placed = np.isin(waits.job, state.bars.rows[:, JOB])
    return Spans(*(column[~placed] for column in waits))


def _ended_waiting(state: RunState) -> np.ndarray:
    """[job] whether it ended while it waited again: what it held ended earlier than itself."""
    found = np.zeros(state.jobs.length, dtype=bool)
    waits = _requeues(state)
    found[waits.job[waits.end_ms > state.jobs.rows[waits.job, FINISH_AT]]] = True
    return found


def _requeues(state: RunState) -> Spans:
    """Waits of requeued jobs, by the decisions of their cluster; until further notice, they end at OPEN."""
    waits = Spans(*np.array(state.requeue_rows(), dtype=np.int64).reshape(-1, len(Spans._fields)).T)
    return waits._replace(end_ms=np.where(waits.end_ms == NEVER, OPEN, waits.end_ms))


def _work(state: RunState, at_ms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[job] whether it has run by then; what it does then: RUNNING, PROFILING, MOVING or SUSPENDED, else ABSENT;
    whether a worker is planned for it.
    """
    ran, doing = np.zeros(state.jobs.length, dtype=bool), np.full(state.jobs.length, ABSENT)
    planned = np.zeros(state.jobs.length, dtype=bool)
    bars = state.bars.rows
    known = (bars[:, ROLE] == WORKER) & valid_at(bars, at_ms)
    begun = known & (bars[:, START] <= at_ms)
    planned[bars[known & ~begun, JOB]] = True
    ran[bars[begun, JOB]] = True
    doing[bars[begun & (bars[:, END] > at_ms), JOB]] = RUNNING
    held = (bars[:, ROLE] == Role.SUSPENDED) & valid_at(bars, at_ms) & (bars[:, START] <= at_ms)
    ran[bars[held, JOB]] = True
    doing[bars[held & (bars[:, END] > at_ms), JOB]] = SUSPENDED
    start_ms, finish_ms = state.jobs.rows[:, START_AT], state.jobs.rows[:, FINISH_AT]
    unplaced = ~(ran | planned) & (start_ms >= 0) & (start_ms <= at_ms)
    unplaced[bars[:, JOB]] = False  # a job of a real cluster that does not state where it runs has no bars at all
    unplaced[list(state.requeued_since(at_ms))] = False
    ran |= unplaced
    doing[unplaced & ((finish_ms == NEVER) | (finish_ms > at_ms))] = RUNNING
    grouped: set[int] = set()
    for _, _, data in memberships.intervals(state, at_ms):
        grouped.update(data["jobs"])
    ran[list(grouped)] = True
    for one in memberships.current(state, at_ms):
        doing[one.job] = STATES.index(one.state(at_ms))
    stopped = np.array(list(state.suspended_since(at_ms)), dtype=np.int64)
    doing[stopped[doing[stopped] == RUNNING]] = SUSPENDED
    return ran, doing, planned
