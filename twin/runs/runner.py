"""Slice of a run: take the lease, continue at the end of the log, write events in batches, release the lease.

A batch run works up to MAX_SLICE_S and enqueues itself again. A live run does what its clock says is due. Killed at any
point, the next slice restores the last checkpoint and computes the same events again; the log drops those it has.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from scheduling.model.values import Event
from scheduling.reporting.metrics import summarize
from twin.eventlog import event_log, frames
from twin.eventlog.event_log import LeaseLost
from twin.infra import pubsub
from twin.models import Run
from twin.processes import shutdown
from twin.processes.dispatch import send, send_all
from twin.runs import engine, holds, lease, pools
from twin.runs.clock import Clock
from twin.runs.engine import Engine, percentiles
from twin.runs.pools import Watch
from twin.scenarios import store

log = logging.getLogger(__name__)
SOON_S = 0.5  # an event that is due sooner needs no announcement of its time
MAX_SLICE_S = 2.0  # then the worker is free for others
LATE_S = 5.0  # a live run whose next event was due before that, with nobody working on it, was away
AWAY = "no process worked on it, because the ticker or the workers were stopped or busy"


def advance(run_id: int) -> None:
    """Slice of a run. With a locked or full database the run waits with the reason; nothing is lost."""
    if _work_on(run_id, _slice, "advance_run"):
        enqueue(run_id)


def complete(run_id: int) -> None:
    """All of a batch run in this process, under one lease: for runs that are computed in the background."""
    _work_on(run_id, _whole, "advance_run")


def step(run_id: int) -> None:
    """The next instant of a paused live run; its clock is set to that instant afterwards."""
    _work_on(run_id, _step, "step_run")


def enqueue(run_id: int) -> bool:
    """Request for the next slice. False if the broker is unavailable; the ticker tries again."""
    return send("advance_run", run_id, queue=pools.queue_of(run_id), expires=60)


def enqueue_all(run_ids: Sequence[int]) -> bool:
    """Requests for the first slice of several runs as one group. False without a broker; the ticker tries again."""
    return send_all("advance_run", run_ids, queue=pools.QUICK, expires=60)


def enqueue_step(run_id: int) -> bool:
    """Request for one step of a paused live run. False if the broker is unavailable."""
    return send("step_run", run_id, queue=pools.queue_of(run_id), expires=10)


def announce(run: Run) -> None:
    """Publication of the status of the run to its pages and the overview."""
    pubsub.announce(run, frames.status(run))


def _work_on(run_id: int, verb: Any, task: str) -> bool:
    """Call of `verb(run, watch)` under the lease; its errors become the run's status. True: call again soon."""
    if not connection.in_atomic_block:  # a caller in a transaction keeps its connection
        close_old_connections()
    run, began = None, time.monotonic()
    try:
        if pools.yields() and pools.queue_of(run_id) != pools.QUICK:  # a message from before it was handed over
            return False
        run = lease.take(run_id)
        if run is None:
            return False
        holds.recall(run)
        holds.late_write(run, time.monotonic() - began)
        with lease.Heartbeat(run, shutdown.free_process), Watch(run, task) as watch:
            more = verb(run, watch)
        lease.release(run)
        return more
    except LeaseLost as error:
        log.info("%s", error)
    except (DatabaseError, OSError) as error:
        log.warning("run %s waits: %s", run_id, error)
        engine.forget()
        holds.hold(run_id, error)
    except Exception as error:
        log.exception("run %s failed", run_id)
        engine.forget()
        _fail(run, error)
    return False


def _slice(run: Run, watch: Watch) -> bool:
    if _stopped(run):
        return False
    running = run.wanted == Run.RUNNING
    if running:
        _keep_moment(run)
    with watch.computing():
        of_run = engine.find(run)
    if running and run.status != Run.RUNNING and run.held_since is None:
        _set_status(run, Run.RUNNING, started_at=run.started_at or timezone.now(), message="")
    return _advance(run, of_run, watch)


def _whole(run: Run, watch: Watch) -> bool:
    while _slice(run, watch):
        pass
    return False


def _keep_moment(run: Run) -> None:
    """Continuation of a live run after a hold, or after a time without a worker, at the time where it stopped."""
    if not run.mode_rules.paced:
        return
    clock = _clock(run)
    due = clock.wall_of(clock.sim_ms if run.next_event_ms is None else run.next_event_ms)
    if due is None:
        return
    since = max(due, run.progressed_at or due)
    if (timezone.now() - since).total_seconds() > LATE_S:
        holds.late(run, since, AWAY)
    if run.held_since is not None:
        _set_clock_back(run, clock, since)


def _set_clock_back(run: Run, clock: Clock, since: datetime) -> None:
    """Shift of the clock by the time without progress."""
    now = timezone.now()
    lease.write(run, clock_sim_ms=clock.now_ms(min(since, now)), clock_wall=now)


def _go_on(run: Run) -> None:
    """End of the hold of a run whose events are written."""
    if run.held_since is None:
        return
    if run.mode_rules.paced and (clock := _clock(run)).wall < run.held_since:  # held up by this write
        _set_clock_back(run, clock, run.held_since)
    _set_status(run, Run.RUNNING, started_at=run.started_at or timezone.now(), **holds.release(run))


def _advance(run: Run, of_run: Engine, watch: Watch) -> bool:
    until = time.monotonic() + MAX_SLICE_S
    paced = run.mode_rules.paced
    while True:
        until_ms = _until_ms(run) if paced else None
        with watch.computing():
            events = of_run.batch(until_ms)
        finished = of_run.next_ms is None
        last = shutdown.asked() or time.monotonic() > until or (paced and not events) or _wants_stop(run)
        save = not finished and (of_run.due or (last and not paced and of_run.unsaved > 0))
        _write(run, of_run, events, save)
        _go_on(run)
        if finished:
            _finish(run, of_run, watch)
            return False
        if last:
            if run.slow and max(watch.longest_s, of_run.setup_s) < pools.MAX_QUICK_S / 2:
                lease.write(run, slow=False)
            engine.keep(run, of_run)
            if _stopped(run):
                return False
            if paced:
                _tell_next(run)
            return not paced or run.wanted == Run.PAUSED  # the ticker wakes live runs that are not about to pause


def _tell_next(run: Run) -> None:
    """Publication of the time of the next event, up to which pages show the clock, if it is not due soon."""
    due = _clock(run).wall_of(run.next_event_ms) if run.next_event_ms is not None else None
    if due is not None and (due - timezone.now()).total_seconds() >= SOON_S:
        pubsub.publish(pubsub.run_channel(run.pk), {"type": "next", "at_ms": run.next_event_ms})


def _step(run: Run, watch: Watch) -> bool:
    if run.wanted != Run.PAUSED or not run.mode_rules.paced:
        return False
    with watch.computing():
        of_run = engine.find(run)
    with watch.computing():
        events = of_run.step()
    _write(run, of_run, events, of_run.due and of_run.next_ms is not None)
    if of_run.next_ms is None:
        _finish(run, of_run, watch)
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
    state = of_run.checkpoint() if save else None
    began = time.monotonic()
    written = event_log.append(run.pk, run.epoch, events, checkpoint=state, next_event_ms=next_ms)
    holds.late_write(run, time.monotonic() - began)
    run.next_event_ms = next_ms
    if events:
        run.last_seq, run.sim_ms = events[-1].seq, events[-1].at_ms
    if written is not None:
        pubsub.publish(pubsub.run_channel(run.pk), written)


def _stopped(run: Run) -> bool:
    """True if the operator has requested a pause, which is then made, once nothing is due before it."""
    run.refresh_from_db(fields=["wanted", "status"])
    if run.wanted != Run.PAUSED or _due_before_pause(run):
        return False
    if run.status != Run.PAUSED:
        held = {**holds.release(run), "message": ""} if run.held_since is not None else {}
        _set_status(run, Run.PAUSED, **held)
    return True


def _due_before_pause(run: Run) -> bool:
    """True if a live run has not reached the time of its pause, so that its clock would show more than its log has.

    Example: a fork promoted in place of a paused run, before the instant of its edits. A run that is already late
    pauses where it is.
    """
    if not run.mode_rules.paced or run.status not in (Run.QUEUED, Run.RUNNING):
        return False
    if run.next_event_ms is None:  # not begun: nobody has looked
        return run.status == Run.QUEUED
    clock = _clock(run)
    behind_ms = clock.sim_ms - run.next_event_ms
    return behind_ms >= 0 and (run.status == Run.QUEUED or behind_ms <= clock.speed * LATE_S * 1_000)


def _until_ms(run: Run) -> int:
    """Time up to which a live run is due: that of its pause if one is requested."""
    fresh = Run.objects.only("wanted", "clock_sim_ms", "clock_wall", "clock_speed").get(pk=run.pk)
    clock = Clock(fresh.clock_sim_ms, fresh.clock_wall or timezone.now(), fresh.clock_speed)
    return clock.sim_ms if fresh.wanted == Run.PAUSED else clock.now_ms(timezone.now())


def _wants_stop(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk).exclude(wanted=Run.RUNNING).exists()


def _clock(run: Run) -> Clock:
    fresh = Run.objects.only("clock_sim_ms", "clock_wall", "clock_speed").get(pk=run.pk)
    return Clock(fresh.clock_sim_ms, fresh.clock_wall or timezone.now(), fresh.clock_speed)


def _metrics(run: Run) -> dict[str, Any]:
    """Metrics, from the log alone."""
    cluster, jobs = store.of_run(run)
    return summarize(chain.from_iterable(event_log.after(run.pk, 0)), cluster, jobs, store.clusters(run))


def _set_status(run: Run, status: str, **fields: Any) -> None:
    lease.write(run, status=status, **fields)
    announce(run)


def _finish(run: Run, of_run: Engine, watch: Watch) -> None:
    with watch.computing():
        metrics = _metrics(run)
    _end(run, Run.FINISHED, metrics, decision_ms=percentiles(of_run.decisions))


def _end(run: Run, status: str, metrics: dict[str, Any], **fields: Any) -> None:
    ended = {**_over(run), "message": ""}
    if status == Run.FINISHED:
        ended["wanted"] = Run.RUNNING  # a pause that came too late
    lease.write(run, status=status, metrics=metrics, **ended, **fields)
    announce(run)


def _fail(run: Run | None, error: Exception) -> None:
    """Failure by a defect of the scheduler or scenario: the run ends with the reason, unless another worker has it."""
    if run is None:
        return
    try:
        message = f"{type(error).__name__}: {error}"[:1000]
        _set_status(
            run, Run.FAILED, message=message, wanted=Run.RUNNING, lease_until=None, lease_owner="", **_over(run)
        )
    except (LeaseLost, DatabaseError) as second:
        log.warning("run %s: its failure could not be written: %s", run.pk, second)


def _over(run: Run) -> dict[str, Any]:
    """Fields of a run that has ended."""
    return {"finished_at": timezone.now(), "end_ms": run.sim_ms, "next_event_ms": None}
