"""The situation of a run at its newest time: load, queue, next events, reasons; for the overview and for alerts.

The newest time of a live cluster is that of its last poll, and that of a live run the time of its clock: planned bars
start and end between two events. The situation is computed at most once per event, per poll, or, between the events
of a live run, per second of real time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduling.kernel.parameters import UnknownName
from scheduling.kernel.registry import scheduler_class
from scheduling.model.values import RESOURCES, SITES
from twin.analysis.situation import load, queue
from twin.eventlog.fold import UTILITY, RunState
from twin.eventlog.job_states import COMPLETED, STATES, job_states
from twin.eventlog.state_cache import Newest
from twin.files.stored_jobs import any_utility, some_of
from twin.infra.kept import KEPT
from twin.mirror.reached import reached_ms
from twin.mirror.stored import first_ms
from twin.models import Run
from twin.runs import scheduler_history
from twin.runs.commands.control import clock_of, now_ms
from twin.scenarios import store

HOUR_MS = 3_600_000
WINDOW_SLOTS = 24  # of simulated runs, whose slots may be as long as an hour
POINTS = 48  # of each curve


class Facts(NamedTuple):
    """Facts of a situation that only rules of alerts need; times in ms of the run's log.

    away             {server, name, site, since_ms} of each server that is away for a time
    waiting_since    [job that has not begun] its arrival, ascending
    suspended        [suspended job] (since, index), ascending; suspended_id: id of the first
    site_shares      {site: [scale][point]} share in use at the times of the curves
    prices           {site: {resource: mean price now}} of a scheduler that sets prices; None under others
    seen_from_ms     first time at which a live cluster was seen: of earlier times the log has only what was open then
    """

    away: list[dict[str, Any]]
    waiting_since: np.ndarray
    suspended: np.ndarray
    suspended_id: str
    site_shares: dict[str, list[list[float | None]]]
    prices: dict[str, dict[str, float]] | None
    seen_from_ms: int = 0


class Situation(NamedTuple):
    """shown: {sim_ms, window_ms, jobs, load, queue, next, rejected, utility, certificate, states}."""

    shown: dict[str, Any]
    facts: Facts


def situation(run: Run) -> Situation:
    """The situation at the newest time."""
    at_ms = present_ms(run)
    certified = run.certificate.get("seq")  # that of the end comes after the end
    key, at = ("situation", run.pk), (run.last_seq, at_ms, run.status, certified)
    with KEPT.lock(key):
        kept: tuple[Any, Situation] | None = KEPT.take(key)
        if kept is None or kept[0] != at:
            kept = at, _situation(run, at_ms)
        KEPT.put(key, kept)
        return kept[1]


def present_ms(run: Run) -> int:
    """Newest time of a run: for a live cluster that of its last poll, for a live run that of its clock, in steps of a
    second of real time while it moves.
    """
    if run.mode_rules.polled:
        return reached_ms(run)
    step_ms = max(1, int(clock_of(run).speed * 1_000))
    return run.sim_ms + (now_ms(run) - run.sim_ms) // step_ms * step_ms


def window_ms(run: Run, slot_ms: int) -> int:
    """The length of the curves: an hour of a real cluster, WINDOW_SLOTS slots of a simulated one, at least an hour."""
    return max(HOUR_MS, WINDOW_SLOTS * slot_ms) if run.mode_rules.simulated else HOUR_MS


def _situation(run: Run, now: int) -> Situation:
    with Newest(run) as state:
        _, jobs = store.of_run(run)
        at_ms = max(state.sim_ms, now)
        cluster = [one for begin, one in store.clusters(run) if begin <= at_ms][-1]  # as edits have left it by now
        codes = job_states(state, at_ms)
        window = window_ms(run, cluster.slot_ms)
        since_ms = first_ms(run) if run.mode_rules.polled else 0  # what was not seen is not drawn as 0
        begin_ms = min(max(at_ms - window, since_ms), at_ms)
        held = load.held(run, state, cluster, jobs, at_ms, at_ms - window)
        loads = load.loads(held, cluster, at_ms, load.gone(run, cluster.servers, at_ms))
        curve = load.curve(held, begin_ms, at_ms, POINTS)
        expected = queue.forecast(run, at_ms)
        waits = queue.waits(run, state, jobs, codes, at_ms, expected)
        found = {
            "sim_ms": at_ms,
            "window_ms": window,
            "jobs": queue.counts(codes),
            "load": loads | {"curve": curve},
            "queue": waits | {"curve": queue.curve(state, codes, begin_ms, at_ms, POINTS)},
            "next": queue.upcoming(state, jobs, codes, at_ms, expected),
            "rejected": queue.rejected(state, codes, at_ms - window),
            "utility": _utility(state, codes) if any_utility(jobs) else None,
            "certificate": _certificate(run),
            "states": STATES,
        }
        suspended = queue.suspended(state, codes, at_ms)
        _, longest = suspended[:1].T
        facts = Facts(
            load.away(loads["servers"], cluster, at_ms),
            np.sort(queue.waiting_since(state, queue.waiting(codes), at_ms)),
            suspended,
            some_of(jobs, longest.tolist())[0].id if len(longest) else "",
            load.site_shares(held, cluster, begin_ms, at_ms, POINTS),
            _prices(run, state, at_ms, cluster.slot_ms),
            since_ms,
        )
    return Situation(found, facts)


def _prices(run: Run, state: RunState, at_ms: int, slot_ms: int) -> dict[str, dict[str, float]] | None:
    columns = state.prices_of(at_ms // slot_ms)
    try:
        if not scheduler_class(scheduler_history.current(run).name).quotes:
            return None
    except UnknownName:  # it is not installed any more
        if columns is None:
            return None
    mean = iter([] if columns is None else columns[1])
    found = {site: dict(zip(RESOURCES, mean, strict=False)) for site in SITES}
    return {site: {r: price for r, price in row.items() if price is not None} for site, row in found.items()}


def _utility(state: RunState, codes: np.ndarray) -> float:
    return float(state.jobs.rows[codes == COMPLETED, UTILITY].sum())


def _certificate(run: Run) -> dict[str, Any]:
    """{kind, ratio} of an ended run; the certificate of a part of a run says nothing about its newest time."""
    proved = run.whole_certificate if run.status == Run.FINISHED else {}
    return {name: proved[name] for name in ("kind", "ratio") if name in proved}
