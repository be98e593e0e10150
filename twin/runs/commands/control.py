"""Control of an active run: pause, resume, pace, step."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from twin.infra.errors import Refused
from twin.models import Run
from twin.runs import runner
from twin.runs.clock import Clock
from twin.runs.commands.allowed import active, check_speed, live, simulated
from twin.runs.commands.audit import audit


def pause(run: Run, user: Any = None) -> Run:
    """Pause after the current batch; the clock of a live run stops."""
    simulated(run, "pause")
    active(run, "pause")
    if run.wanted == Run.PAUSED:
        return run
    now = timezone.now()
    clock = clock_of(run)
    return _want(run, Run.PAUSED, user, "run.pause", clock_sim_ms=clock.now_ms(now), clock_wall=now)


def resume(run: Run, user: Any = None) -> Run:
    """Continuation after a pause."""
    simulated(run, "resume")
    active(run, "resume")
    if run.wanted == Run.RUNNING and run.status != Run.PAUSED:
        return run
    fields: dict[str, Any] = {"clock_wall": timezone.now(), "message": ""}
    if run.status == Run.PAUSED:
        fields |= {"status": Run.QUEUED, "held_since": None}
    return _want(run, Run.RUNNING, user, "run.resume", **fields)


def set_speed(run: Run, speed: float, user: Any = None) -> Run:
    """Speed of a live run from this moment on, in ms per ms."""
    simulated(run, "set the speed of")
    live(run, "set the speed of")
    active(run, "set the speed of")
    check_speed(speed)
    now = timezone.now()
    clock = clock_of(run).with_speed(speed, now)
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(clock_sim_ms=clock.sim_ms, clock_wall=clock.wall, clock_speed=clock.speed)
        audit(user, "run.speed", f"run {run.pk}", {"speed": speed})
    return _published(run)


def step(run: Run, user: Any = None) -> Run:
    """Step of a paused live run's clock to its next event, which happens; the run stays paused."""
    simulated(run, "step")
    live(run, "step")
    active(run, "step")
    if run.wanted != Run.PAUSED:
        raise Refused("pause the run before stepping it")
    if run.status != Run.PAUSED:
        raise Refused("the run is still pausing; try again later")
    if not runner.enqueue_step(run.pk):
        raise Refused("the broker does not answer; try again later")
    audit(user, "run.step", f"run {run.pk}", {})
    return _published(run)


def clock_of(run: Run) -> Clock:
    """Clock as stored; that of a paused run does not advance."""
    moving = run.wanted == Run.RUNNING and run.status != Run.PAUSED
    return Clock(run.clock_sim_ms, run.clock_wall or timezone.now(), run.clock_speed if moving else 0.0)


def now_ms(run: Run) -> int:
    """Time of an active run now: of a live run, that of its clock between two events."""
    if not run.mode_rules.paced or run.next_event_ms is None:
        return run.sim_ms
    return max(run.sim_ms, min(clock_of(run).now_ms(timezone.now()), run.next_event_ms - 1))


def _want(run: Run, wanted: str, user: Any, action: str, **fields: Any) -> Run:
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk, status__in=Run.ACTIVE).update(wanted=wanted, **fields):
            active(run, action.partition(".")[2])  # it has ended since it was read
        audit(user, action, f"run {run.pk}", {})
    runner.enqueue(run.pk)
    return _published(run)


def _published(run: Run) -> Run:
    """Current run, after the publication of its status."""
    run.refresh_from_db()
    runner.announce(run)
    return run
