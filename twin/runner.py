"""One slice of a run: take the lease, go on where the log ends, write events in batches, give the lease back.

A batch run works up to SLICE_S and enqueues itself again. A live run does what its clock says is due. Killed at any
point, the next slice restores the last checkpoint and computes the same events again; the log drops those it has.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from itertools import chain
from typing import Any

from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from scheduling.metrics import summarize
from scheduling.model import Event
from twin import bus, engine, eventlog, lease, pauses, scenarios, stopping, wire
from twin.clock import Clock
from twin.engine import Engine, percentiles
from twin.eventlog import LeaseLost
from twin.models import Run
from twin.sending import send, send_all

log = logging.getLogger(__name__)
SLICE_S = 2.0  # then the worker is free for others


def advance(run_id: int) -> None:
    """One slice. A database that is locked or full pauses the run with the reason; nothing is lost."""
    if _work_on(run_id, _slice):
        enqueue(run_id)


def step(run_id: int) -> None:
    """The next instant of a paused live run; its clock stands at that instant afterwards."""
    _work_on(run_id, _step)


def enqueue(run_id: int) -> bool:
    """Asks a worker for the next slice. False when the broker is away: the ticker asks again."""
    return send("advance_run", run_id, queue="runs", expires=60)


def enqueue_all(run_ids: Sequence[int]) -> bool:
    """Asks the workers for the first slice of several runs, as one group. False when the broker is away: the ticker asks again."""
    return send_all("advance_run", run_ids, queue="runs", expires=60)


def enqueue_step(run_id: int) -> bool:
    """Asks a worker for one step of a paused live run. False when the broker is away."""
    return send("step_run", run_id, queue="runs", expires=10)


def announce(run: Run) -> None:
    """Tells the watchers of the run, and of the overview, where it stands."""
    bus.announce(run, wire.status(run))


def _work_on(run_id: int, verb: Any) -> bool:
    """Calls `verb(run)` under the lease and turns what goes wrong into the run's status; True = call again soon."""
    close_old_connections()
    run = None
    try:
        run = lease.take(run_id)
        if run is None:
            return False
        with lease.Heartbeat(run):
            more = verb(run)
        lease.release(run)
        return more
    except LeaseLost as error:
        log.info("%s", error)
    except (DatabaseError, OSError) as error:
        log.warning("run %s pauses: %s", run_id, error)
        engine.forget()
        pauses.hold(run_id, error)
    except Exception as error:
        log.exception("run %s failed", run_id)
        engine.forget()
        _fail(run, error)
    return False


def _slice(run: Run) -> bool:
    if _stopped(run):
        return False
    of_run = engine.find(run)
    if run.status != Run.RUNNING:
        _set_status(run, Run.RUNNING, started_at=run.started_at or timezone.now(), message="")
    return _advance(run, of_run)


def _advance(run: Run, of_run: Engine) -> bool:
    until = time.monotonic() + SLICE_S
    live = run.mode == Run.LIVE
    while True:
        events = of_run.batch(_clock(run).now_ms(timezone.now()) if live else None)
        finished = of_run.next_ms is None
        last = stopping.asked() or time.monotonic() > until or (live and not events) or _wants_stop(run)
        save = not finished and (of_run.due or (last and not live and of_run.unsaved > 0))
        _write(run, of_run, events, save)
        if finished:
            _end(run, Run.FINISHED, _metrics(run), decision_ms=percentiles(of_run.decisions))
            return False
        if last:
            engine.keep(run, of_run)
            return not _stopped(run) and not live  # the ticker wakes live runs


def _step(run: Run) -> bool:
    if run.wanted != Run.PAUSED or run.mode != Run.LIVE:
        return False
    of_run = engine.find(run)
    events = of_run.step()
    _write(run, of_run, events, of_run.due and of_run.next_ms is not None)
    if of_run.next_ms is None:
        _end(run, Run.FINISHED, _metrics(run), decision_ms=percentiles(of_run.decisions))
        return False
    lease.write(run, clock_sim_ms=run.sim_ms, clock_wall=timezone.now())
    engine.keep(run, of_run)
    announce(run)
    return False


def _write(run: Run, of_run: Engine, events: list[Event], save: bool) -> None:
    next_ms = of_run.next_ms
    if not events and not save:
        if next_ms != run.next_event_ms:
            lease.write(run, next_event_ms=next_ms)
        return
    payload = of_run.checkpoint() if save else None
    eventlog.append(run.pk, run.epoch, events, checkpoint=payload, next_event_ms=next_ms)
    run.next_event_ms = next_ms
    if events:
        run.last_seq, run.sim_ms = events[-1].seq, events[-1].at_ms
        bus.publish(bus.run_channel(run.pk), wire.frame(events))


def _stopped(run: Run) -> bool:
    """True when the operator wants it paused or cancelled; then it is."""
    run.refresh_from_db(fields=["wanted", "status"])
    if run.wanted == Run.CANCELLED:
        _end(run, Run.CANCELLED, {})
    elif run.wanted == Run.PAUSED:
        if run.status != Run.PAUSED:
            _set_status(run, Run.PAUSED)
    else:
        return False
    return True


def _wants_stop(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk).exclude(wanted=Run.RUNNING).exists()


def _clock(run: Run) -> Clock:
    fresh = Run.objects.only("clock_sim_ms", "clock_wall", "clock_speed").get(pk=run.pk)
    return Clock(fresh.clock_sim_ms, fresh.clock_wall or timezone.now(), fresh.clock_speed)


def _metrics(run: Run) -> dict[str, Any]:
    """Every figure, from the log alone."""
    cluster, jobs = scenarios.of_run(run)
    return summarize(chain.from_iterable(eventlog.after(run.pk, 0)), cluster, jobs, scenarios.clusters(run))


def _set_status(run: Run, status: str, **fields: Any) -> None:
    lease.write(run, status=status, **fields)
    announce(run)


def _end(run: Run, status: str, metrics: dict[str, Any], **fields: Any) -> None:
    ended = {**_over(run), "message": ""}
    if status == Run.FINISHED:
        ended["wanted"] = Run.RUNNING  # a pause that came too late
    lease.write(run, status=status, metrics=metrics, **ended, **fields)
    announce(run)


def _fail(run: Run | None, error: Exception) -> None:
    """A defect of the scheduler or the scenario: the run ends with the reason, unless another worker has it by now."""
    if run is None:
        return
    try:
        message = f"{type(error).__name__}: {error}"[:1000]
        _set_status(run, Run.FAILED, message=message, wanted=Run.RUNNING, lease_until=None, lease_owner="", **_over(run))
    except (LeaseLost, DatabaseError) as second:
        log.warning("run %s: its failure could not be written: %s", run.pk, second)


def _over(run: Run) -> dict[str, Any]:
    """Fields of a run that will not go on."""
    return {"finished_at": timezone.now(), "end_ms": run.sim_ms, "next_event_ms": None}
