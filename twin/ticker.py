"""The ticker, five times a second: requests slices of live runs that are due, and of runs whose worker is gone.

Recovery is ours, not the broker's: a run whose lease ran out, or whose message was lost, is enqueued again here.
Several tickers do no harm (the lease lets only one slice work), but one is enough.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError, close_old_connections
from django.db.models import QuerySet
from django.utils import timezone

from twin.acting import planning_task
from twin.alerts import evaluation_task
from twin.alerts.webhook import delivery_task
from twin.analysis import certificate_task, closing_metrics, state_task
from twin.eventlog import frames
from twin.infra import database, disk, pubsub
from twin.mirror import drift_task
from twin.mirror.forecasts import forecast_task
from twin.models import Run
from twin.models.run_modes import modes_where
from twin.operation import cleanup_task
from twin.processes import vitals
from twin.processes.progress import Progress
from twin.push import compaction
from twin.runs import holds, lease, runner
from twin.runs.activity import activity
from twin.runs.clock import Clock
from twin.studies import sweeps
from twin.studies.experiments import task as experiment_task
from twin.studies.shadows import task as shadow_task
from twin.traces import import_task

log = logging.getLogger(__name__)
TICK_S = 0.2
REQUEST_AGAIN_S = 5.0  # a requested slice that did not start is requested again
SLOW_S = 2.0  # between two checks of imports, recorded holds, the disk and the demo
# a loop without an iteration for this long hangs; a locked database makes each write wait for LOCK_WAIT_S
STUCK_S = 60.0
LOCK_WAIT_S = 1.0  # the loop repeats, so a write that fails is tried again
COMPACT_S = 3_600.0  # between two compactions of posted events
ANNOUNCE_AGAIN_S = 10.0  # between two announcements of a run that still waits
QUIET_S = 10.0  # between two log lines about an unavailable database or broker


class Ticker:
    """Ticker that remembers its requests, so that a busy queue is not flooded."""

    def __init__(self, demo: bool = False) -> None:
        self.demo = demo
        self.asked: dict[int, tuple[float, int]] = {}  # run -> (when, its epoch then)
        self.checked_at = self.complained = float("-inf")
        self.compacted = time.monotonic()
        self.progress = Progress("processed runs", STUCK_S)
        self.announced: dict[int, str] = {}  # run -> the activity that its pages know
        self.states = state_task.Requests()
        self.audits = drift_task.Requests()
        self.forecasts = forecast_task.Requests()
        self.plans = planning_task.Requests()
        self.shadows = shadow_task.Requests()
        self.experiments = experiment_task.Requests()
        self.closing = closing_metrics.Requests()
        self.alerts = evaluation_task.Requests()
        self.notices = delivery_task.Requests()
        self.cleanups = cleanup_task.Requests()
        self.lock_watch = database.LockWatch()
        self.shown = False  # whether the demo was checked since the start

    def run(self, stop: threading.Event) -> None:
        """Steps until `stop` is set; an unavailable database or broker is waited for."""
        self.lock_watch.start()
        begun = False
        while not stop.wait(TICK_S):
            self.progress.note()
            try:
                if not begun:
                    self.begin()
                    begun = True
                self.tick()
            except (DatabaseError, OSError) as error:
                if time.monotonic() - self.complained > QUIET_S:
                    self.complained = time.monotonic()
                    log.warning("the ticker waits: %s", error)
                close_old_connections()

    def fault(self) -> str:
        """Fault of a loop that hangs; empty while it runs."""
        return self.progress.fault()

    def begin(self) -> list[int]:
        """Runs without a worker, which are requested: earlier messages ended with their broker."""
        left = [run for run in _waiting() if not lease.held(run)]
        for run in left:
            self.asked[run.pk] = (time.monotonic(), run.epoch)
            runner.enqueue(run.pk)
        return [run.pk for run in left]

    def tick(self) -> list[int]:
        """Runs that are due, which are enqueued."""
        due = [run.pk for run in _waiting() if self._due(run)]
        for run_id in due:
            runner.enqueue(run_id)
        if time.monotonic() - self.checked_at > SLOW_S:
            self.checked_at = time.monotonic()
            self._slowly()
        return due

    def _slowly(self) -> None:
        self._announce_activities()
        disk.keep_reserve()
        if self.lock_watch.locked:  # a write would only keep the loop waiting
            return
        for run_id in holds.write_noted():
            runner.enqueue(run_id)
        import_task.take_up()
        sweeps.create_waiting()
        certificate_task.refresh()
        self.states.refresh()
        self.audits.refresh()
        self.forecasts.refresh()
        self.plans.refresh()
        self.shadows.refresh()
        self.experiments.refresh()
        self.closing.refresh()
        self.alerts.refresh()
        self.notices.refresh()
        self.cleanups.refresh()
        if time.monotonic() - self.compacted > COMPACT_S:
            self.compacted = time.monotonic()
            compaction.compact(time.time_ns() // 1_000_000)
        if self.demo:
            from twin.studies.demo import ensure

            ensure(begin=not self.shown)
            self.shown = True

    def _announce_activities(self) -> None:
        """Announcement of runs that began or stopped waiting or stalling, and now and then of those that still do."""
        known = vitals.take()
        doing = {run: activity(run, known) for run in _waiting()}
        announced = {
            run.pk: f"{what['state']} {what['seconds'] // ANNOUNCE_AGAIN_S}"
            for run, what in doing.items()
            if what is not None
        }
        for run in doing:
            if announced.get(run.pk) != self.announced.get(run.pk):
                pubsub.announce(run, frames.status(run, known))
        self.announced = announced

    def _due(self, run: Run) -> bool:
        """True if a slice must be requested now: no worker has the run, and there is something to do."""
        now, wall = time.monotonic(), timezone.now()
        if lease.held(run):
            return False
        paced = run.mode_rules.paced and run.status == run.wanted == Run.RUNNING
        if paced and run.next_event_ms is not None and _clock(run).now_ms(wall) < run.next_event_ms:
            return False
        when, epoch = self.asked.get(run.pk, (None, -1))
        if epoch != run.epoch:  # a slice began since: a live run is due, the message of a batch run is on its way
            self.asked[run.pk] = (now, run.epoch)
            return paced or run.lease_until is not None
        if when is not None and now - when < REQUEST_AGAIN_S:
            return False
        self.asked[run.pk] = (now, run.epoch)
        return True


def _waiting() -> QuerySet[Run]:
    """Runs that are not over and not at rest."""
    active = Run.objects.filter(status__in=Run.ACTIVE, mode__in=modes_where(simulated=True))
    return active.exclude(status=Run.PAUSED, wanted=Run.PAUSED).defer("decision_ms")


def _clock(run: Run) -> Clock:
    return Clock(run.clock_sim_ms, run.clock_wall or timezone.now(), run.clock_speed)
