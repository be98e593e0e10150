"""Folded states of runs, and levels of large ones, stored in the background as their logs grow.

Opening a run then reads little of its log.
"""

from __future__ import annotations

import logging
import time
from functools import partial

from twin.analysis import stored_levels
from twin.analysis.certificate_task import QUEUE
from twin.eventlog import stored_states
from twin.eventlog.large_runs import is_large
from twin.models import Run
from twin.processes import bounded_process, exclusive, shutdown
from twin.processes.requests import TaskRequests, as_list

log = logging.getLogger(__name__)
TASK = "store_state"
MAX_STEP_S = 60.0  # of one step
MAX_LEVELS_S = 1_800.0  # of one pass over the log of a large run
TURN_S = 10.0  # after this time a worker gives way to other tasks
ASKED_S = 10.0  # a request that no worker accepted for this long is repeated


class Requests(TaskRequests):
    """Requests for the state of one run after the other."""

    task, queue, again_s = TASK, QUEUE, ASKED_S

    def due(self) -> list[int]:
        return as_list(due())


def due() -> int | None:
    """A run whose state or levels are due; states first, as they take less time.

    One state and the levels of one run are computed at a time, so that workers remain for other tasks.
    """
    busy = {_is_large(run_id) for run_id in exclusive.in_progress(TASK)}
    state = None if False in busy else stored_states.due()
    return state or (None if True in busy else stored_levels.due())


def work_off(run_id: int | None) -> None:
    """Update of the run's stored state, in its own limited process, then of others that are due, for TURN_S."""
    until, before = time.monotonic() + TURN_S, None
    while run_id is not None and run_id != before and not shutdown.asked():
        with exclusive.held(TASK, run_id) as mine:
            if mine is not None and _is_due(run_id):
                _update(mine, run_id)
        before, run_id = run_id, due() if time.monotonic() < until else None


def _update(mine: exclusive.Held, run_id: int) -> None:
    limit_s = MAX_LEVELS_S if _is_large(run_id) else MAX_STEP_S
    outcome = mine.run(partial(run, run_id), limit_s=limit_s, wanted=partial(_exists, run_id))
    if outcome in bounded_process.FAILURES:
        log.error("run %s: its state cannot be stored; the computation ended as %s", run_id, outcome)
        _give_up(run_id)


def run(run_id: int) -> None:
    """Update of what is stored of a run, in this process. A log that cannot be folded is not tried again."""
    try:
        (stored_levels if _is_large(run_id) else stored_states).bring_up(run_id)
    except ValueError as error:
        log.warning("run %s: its log cannot be folded: %s", run_id, error)
        _give_up(run_id)


def _is_due(run_id: int) -> bool:
    """False if it was stored since it was requested, or another one of its kind is in progress."""
    large = _is_large(run_id)
    if large in {_is_large(other) for other in exclusive.in_progress(TASK) - {run_id}}:
        return False
    return (stored_levels if large else stored_states).all_due().filter(pk=run_id).exists()


def _exists(run_id: int) -> bool:
    return Run.objects.filter(pk=run_id).exists()


def _is_large(run_id: int) -> bool:
    run = Run.objects.filter(pk=run_id).only("mode", "status", "last_seq").first()
    return run is not None and is_large(run)


def _give_up(run_id: int) -> None:
    if _is_large(run_id):
        stored_states.give_up(run_id, stored_levels.VERSION)
    else:
        stored_states.give_up(run_id)
