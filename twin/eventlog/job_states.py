"""State of each job at a given time, with the same names in tables, tiles, charts and comparisons.

static/js/core/job-state.js follows the same rules; tests/fixtures/job_states.json pins both.

queued       has arrived, has not run yet, and no plan lets it run: undecided, or its plan was withdrawn
planned      has not run yet, and a plan lets it run later
profiling    is in a group, while its times are measured
moving       is in a group, while its model and input are transferred
running      has a worker that runs
suspended    has run and is not done, no worker of it runs, and its plan has no end by now; or a real cluster has
             suspended it, whatever it holds
completed    has ended with its work done; a job of a real cluster has ended, in whatever way
rejected     never runs, or never again: also one that was admitted, and that another scheduler turned away
unfinished   was none of the two when the run ended
"""

from __future__ import annotations

import numpy as np

from scheduling.model.bars import END, JOB, ROLE, START
from twin.eventlog.fold import BORN, DIED, FINISH_AT, JOB_FIELDS, NEVER, START_AT, WORKER, RunState

STATES = ("queued", "planned", "profiling", "moving", "running", "suspended", "completed", "rejected", "unfinished")
QUEUED, PLANNED, PROFILING, MOVING, RUNNING, SUSPENDED, COMPLETED, REJECTED, UNFINISHED = range(len(STATES))
ABSENT = -1  # has not arrived


def job_states(state: RunState, at_ms: int) -> np.ndarray:
    """[job] place in STATES at a moment, or ABSENT."""
    happened = {
        name: (times >= 0) & (times <= at_ms) for name, times in zip(JOB_FIELDS, state.jobs.rows.T, strict=True)
    }
    ran, doing, planned = _work(state, at_ms)
    codes = np.where(planned, PLANNED, QUEUED)
    codes[ran] = SUSPENDED
    codes[ran & happened["finish_ms"]] = RUNNING  # it ends at this instant: the event of its end is still to come
    codes = np.where(doing != ABSENT, doing, codes)
    if state.finished and at_ms >= state.sim_ms:
        codes[:] = UNFINISHED
    codes[happened["rejected_ms"]] = REJECTED
    codes[happened["completed_ms"]] = COMPLETED
    codes[~happened["arrived_ms"]] = ABSENT
    return codes


def _work(state: RunState, at_ms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[job] whether it has run by then; what it does then: RUNNING, PROFILING, MOVING or SUSPENDED, else ABSENT;
    whether a worker is planned for it.
    """
    ran, doing = np.zeros(state.jobs.length, dtype=bool), np.full(state.jobs.length, ABSENT)
    planned = np.zeros(state.jobs.length, dtype=bool)
    bars = state.bars.rows
    known = (bars[:, ROLE] == WORKER) & (bars[:, BORN] <= at_ms)
    known &= (bars[:, DIED] == NEVER) | (bars[:, DIED] > at_ms)
    begun = known & (bars[:, START] <= at_ms)
    planned[bars[known & ~begun, JOB]] = True
    ran[bars[begun, JOB]] = True
    doing[bars[begun & (bars[:, END] > at_ms), JOB]] = RUNNING
    start_ms, finish_ms = state.jobs.rows[:, START_AT], state.jobs.rows[:, FINISH_AT]
    unplaced = ~(ran | planned) & (start_ms >= 0) & (start_ms <= at_ms)
    unplaced[bars[:, JOB]] = False  # a job of a real cluster that does not state where it runs has no bars at all
    ran |= unplaced
    doing[unplaced & ((finish_ms == NEVER) | (finish_ms > at_ms))] = RUNNING
    for from_ms, until_ms, data in state.groups:
        if from_ms <= at_ms and until_ms != from_ms:
            ran[data["jobs"]] = True
            if until_ms == NEVER or at_ms < until_ms:
                doing[data["jobs"]] = [
                    MOVING if ready_ms > at_ms else PROFILING if profiling else RUNNING
                    for ready_ms, profiling in zip(data["ready_ms"], data["profiling"], strict=True)
                ]
    for job, from_ms, until_ms in state.suspension_rows():
        if from_ms <= at_ms and (until_ms == NEVER or at_ms < until_ms) and doing[job] == RUNNING:
            doing[job] = SUSPENDED
    return ran, doing, planned
