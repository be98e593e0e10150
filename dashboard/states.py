"""The folded state of the runs that are being looked at, kept in memory and carried on batch by batch."""

from __future__ import annotations

import threading
from collections import OrderedDict

from twin.models import Run
from twin.state import RunState, at

MOST_RUNS = 8
MOST_BARS = 2_000_000  # of all kept runs together: about 88 bytes each, and as much again while a matrix grows
_states: OrderedDict[int, RunState] = OrderedDict()  # the one looked at last is last
_lock = threading.Lock()
_run_locks: dict[int, threading.Lock] = {}


class Newest:
    """`with Newest(run) as state`: the state after the run's newest event; nobody else folds it meanwhile."""

    def __init__(self, run: Run) -> None:
        self.run = run
        with _lock:
            self.lock = _run_locks.setdefault(run.pk, threading.Lock())

    def __enter__(self) -> RunState:
        self.lock.acquire()
        try:
            with _lock:
                state = _states.pop(self.run.pk, None)
            state = at(self.run.pk, state=state)
            _keep(self.run.pk, state)
            return state
        except BaseException:
            self.lock.release()
            raise

    def __exit__(self, *error: object) -> None:
        self.lock.release()


def _keep(run_id: int, state: RunState) -> None:
    """Keeps the state, and drops those looked at longest ago until all fit."""
    with _lock:
        _states[run_id] = state
        while len(_states) > 1 and (len(_states) > MOST_RUNS or sum(s.bars.length for s in _states.values()) > MOST_BARS):
            _states.popitem(last=False)


def forget() -> None:
    """Drops everything that is kept."""
    with _lock:
        _states.clear()
        _run_locks.clear()
