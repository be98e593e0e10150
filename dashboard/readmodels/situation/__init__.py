"""The situation of a run at its newest time, as the overview shows it: load, queue, next events, reasons.

GET /api/runs/<id>/situation/ answers with it about once a second; it is computed once per event of the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.readmodels import run_summary
from dashboard.readmodels.situation import attention, load, queue
from dashboard.readmodels.state_cache import Newest
from twin.eventlog.fold import JOB_FIELDS, RunState
from twin.eventlog.job_states import COMPLETED, STATES, job_states
from twin.files.job_table import any_utility
from twin.infra.kept import KEPT
from twin.models import Run
from twin.scenarios import store

HOUR_MS = 3_600_000
WINDOW_SLOTS = 24  # of simulated runs, whose slots may be as long as an hour
POINTS = 48  # of each curve
UTILITY = JOB_FIELDS.index("utility")


def situation(run: Run) -> dict[str, Any]:
    """{sim_ms, window_ms, jobs, load, queue, next, rejected, attention}; times in ms of the run's log."""
    key, at = ("situation", run.pk), (run.last_seq, run.sim_ms, run.status)
    with KEPT.lock(key):
        kept: tuple[Any, dict[str, Any]] | None = KEPT.take(key)
        if kept is None or kept[0] != at:
            kept = at, _situation(run)
        KEPT.put(key, kept)
        return kept[1]


def window_ms(run: Run, slot_ms: int) -> int:
    """The length of the curves: an hour of a real cluster, WINDOW_SLOTS slots of a simulated one, at least an hour."""
    return HOUR_MS if run.mode == Run.MIRROR else max(HOUR_MS, WINDOW_SLOTS * slot_ms)


def _situation(run: Run) -> dict[str, Any]:
    _, jobs = store.of_run(run)
    with Newest(run) as state:
        at_ms = max(state.sim_ms, run.sim_ms)
        cluster = [one for begin, one in store.clusters(run) if begin <= at_ms][-1]  # as edits have left it by now
        codes = job_states(state, at_ms)
        window = window_ms(run, cluster.slot_ms)
        held = load.held(run, state, cluster, jobs, at_ms, at_ms - window)
        loads = load.loads(held, cluster, at_ms, run_summary.gone(run, cluster.servers, at_ms))
        curve = load.curve(held, at_ms - window, at_ms, POINTS)
        expected = queue.forecast(run, at_ms)
        waits = queue.waits(run, state, jobs, codes, at_ms, expected)
        found = {
            "sim_ms": at_ms,
            "window_ms": window,
            "jobs": queue.counts(codes),
            "load": loads | {"curve": curve},
            "queue": waits | {"curve": queue.curve(state, codes, at_ms - window, at_ms, POINTS)},
            "next": queue.upcoming(state, jobs, codes, at_ms, expected),
            "rejected": queue.rejected(state, codes, at_ms - window),
            "utility": _utility(state, codes) if any_utility(jobs) else None,
            "certificate": _certificate(run),
        }
    return found | {"attention": attention.points(found), "states": STATES}


def _utility(state: RunState, codes: np.ndarray) -> float:
    return float(state.jobs.rows[codes == COMPLETED, UTILITY].sum())


def _certificate(run: Run) -> dict[str, Any]:
    """{kind, ratio} of an ended run; the certificate of a part of a run says nothing about its newest time."""
    ended = run.status == Run.FINISHED
    return {name: run.certificate[name] for name in ("kind", "ratio") if ended and name in run.certificate}
