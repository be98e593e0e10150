"""Activity of an active run that does not progress normally: waiting for a worker, stalled, held, pausing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from scheduling.reporting.quantities import duration
from twin.models import Run
from twin.processes.heartbeat import LONG, RUNS, TICKER, Process, dispatcher
from twin.processes.vitals import Vitals
from twin.runs import lease
from twin.runs.clock import Clock

WAITS, NOTHING_LOST = "waiting: ", ". No data are lost; the run resumes automatically."
WAITING_S = 3.0  # shorter waits are not reported
STALLED_S = 30.0


def activity(run: Run, vitals: Vitals) -> dict[str, Any] | None:
    """{state: held | pausing | waiting | stalled, text, seconds}; None for a run that computes, rests or is over."""
    if run.status not in Run.ACTIVE or run.status == run.wanted == Run.PAUSED or run.mode_rules.recorded:
        return None
    now = timezone.now()
    if vitals.locked_since is not None and (now - vitals.locked_since).total_seconds() >= WAITING_S:
        seconds = (now - vitals.locked_since).total_seconds()
        return _held(f"the database has been locked for {span(seconds)}", seconds)
    if run.held_since is not None:
        return {"state": "held", "text": run.message, "seconds": (now - run.held_since).total_seconds()}
    since = max(
        moment for moment in (run.created_at, run.started_at, run.progressed_at, run.clock_wall) if moment is not None
    )
    if lease.held(run):  # the time without a worker before this lease is no time of computing
        began = max(since, run.leased_at or since)
        return _working(run, vitals.processes or (), (now - began).total_seconds())
    seconds = (now - since).total_seconds()
    paced = run.mode_rules.paced and run.status == run.wanted == Run.RUNNING
    if paced and run.next_event_ms is not None:
        clock = Clock(run.clock_sim_ms, run.clock_wall or now, run.clock_speed)
        # since its next event was due; a promoted fork catches up with events that were due before it was made
        seconds = min(seconds, (clock.now_ms(now) - run.next_event_ms) / 1000 / max(clock.speed, 1e-9))
    if seconds < WAITING_S:
        return None
    if vitals.disk_full:  # the hold could not be written either
        return _held(vitals.disk_full, seconds)
    text = f"waiting for a worker for {span(seconds)}: {_workers(run, vitals.processes)}"
    return {"state": "waiting", "text": text, "seconds": seconds}


def _held(why: str, seconds: float) -> dict[str, Any]:
    return {"state": "held", "text": f"{WAITS}{why}{NOTHING_LOST}", "seconds": seconds}


def _working(run: Run, processes: Sequence[Process], seconds: float) -> dict[str, Any] | None:
    """Activity of a run that a worker has. seconds: since its last event, or since the worker took it if later."""
    worker = next((process for process in processes if run.lease_owner.startswith(f"{process.name}.")), None)
    if worker is not None and worker.trouble:
        text = f"stalled: {worker.trouble}"
        return {"state": "stalled", "text": text, "seconds": worker.silent_s}
    if run.wanted == Run.PAUSED:
        return {"state": "pausing", "text": "pausing after the decision in progress", "seconds": seconds}
    if seconds < STALLED_S:
        return None
    text = f"no event for {span(seconds)}: its worker is computing one decision; cancel the run if this takes too long"
    return {"state": "stalled", "text": text, "seconds": seconds}


def _workers(run: Run, processes: Sequence[Process] | None) -> str:
    """Reason why no worker takes the run."""
    if processes is None:
        return "the broker does not answer"
    kind = LONG if run.slow else RUNS
    needed = (kind, dispatcher(kind), TICKER)
    troubles = [process.trouble for process in processes if process.kind in needed and process.trouble]
    if troubles:
        return "; ".join(troubles)
    missing = [kind for kind in needed if not any(process.kind == kind for process in processes)]
    if missing:
        return f"there is no {' and no '.join(missing)}"
    workers = [process for process in processes if process.kind == kind]
    busy = sorted(process.doing for process in workers if process.doing)
    if f"run {run.pk}" in busy:
        return "a worker is about to take it"
    if len(busy) < len(workers):
        return "queued for an idle worker"
    of = " for long decisions" if run.slow else ""
    one = f"the only worker{of} is" if len(busy) == 1 else f"all workers{of} are"
    return f"{one} busy with {', '.join(busy)}"


def span(seconds: float) -> str:
    """Duration as text, in seconds below two minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else duration(round(seconds) * 1_000)
