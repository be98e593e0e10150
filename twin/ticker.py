"""The twin's heartbeat, five times a second: wakes live runs that are due, and runs whose worker is gone.

Recovery is ours, not the broker's: a run whose lease ran out, or whose message was lost, is enqueued again here. Several
tickers do no harm (the lease lets only one slice work), but one is enough.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError, close_old_connections
from django.db.models import QuerySet
from django.utils import timezone

from twin import certifying, disk, importing, lease, pauses, runner
from twin.clock import Clock
from twin.models import Run

log = logging.getLogger(__name__)
TICK_S = 0.2
ASK_AGAIN_S = 5.0  # a slice that was asked for and did not begin is asked for again
SLOW_S = 2.0  # between two looks at imports, noted pauses, the disk and the demo
QUIET_S = 10.0  # between two lines about a database or broker that stays away
LATE_S = 5.0  # a live run that is further behind when the ticker starts had no worker: its clock stood still


class Ticker:
    """Remembers when it asked for each run, so that a busy queue is not flooded."""

    def __init__(self, demo: bool = False) -> None:
        self.demo = demo
        self.asked: dict[int, tuple[float, int]] = {}  # run -> (when, its epoch then)
        self.looked = self.complained = float("-inf")
        self.shown = False  # whether the demo was seen to since the start

    def run(self, stop: threading.Event) -> None:
        """Ticks until `stop` is set; a database or broker that is away is waited for."""
        begun = False
        while not stop.wait(TICK_S):
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

    def begin(self) -> list[int]:
        """Asks for every run that nobody works on: the messages of the last time went with its broker. Returns them."""
        resume_clocks()
        left = [run for run in _waiting() if not _held(run)]
        for run in left:
            self.asked[run.pk] = (time.monotonic(), run.epoch)
            runner.enqueue(run.pk)
        return [run.pk for run in left]

    def tick(self) -> list[int]:
        """Enqueues what is due; returns the runs asked for."""
        due = [run.pk for run in _waiting() if self._due(run)]
        for run_id in due:
            runner.enqueue(run_id)
        if time.monotonic() - self.looked > SLOW_S:
            self.looked = time.monotonic()
            self._slowly()
        return due

    def _slowly(self) -> None:
        disk.keep_reserve()
        pauses.write_noted()
        importing.forget_abandoned()
        importing.take_up()
        certifying.refresh()
        if self.demo:
            from twin.demo import ensure

            ensure(begin=not self.shown)
            self.shown = True

    def _due(self, run: Run) -> bool:
        """True when a slice is to be asked for now: nobody works on the run, and there is something to do."""
        now, wall = time.monotonic(), timezone.now()
        if _held(run):
            return False
        live = run.mode == Run.LIVE and run.status == run.wanted == Run.RUNNING
        if live and run.next_event_ms is not None and _clock(run).now_ms(wall) < run.next_event_ms:
            return False
        when, epoch = self.asked.get(run.pk, (None, -1))
        if epoch != run.epoch:  # a slice began since: a live run is due, the message of a batch run is on its way
            self.asked[run.pk] = (now, run.epoch)
            return live or run.lease_until is not None
        if when is not None and now - when < ASK_AGAIN_S:
            return False
        self.asked[run.pk] = (now, run.epoch)
        return True


def resume_clocks() -> None:
    """Live runs that had no worker for a while go on at their next event, instead of leaping over what they missed."""
    now = timezone.now()
    for run in Run.objects.filter(mode=Run.LIVE, status=Run.RUNNING, wanted=Run.RUNNING, next_event_ms__isnull=False):
        clock = _clock(run)
        if run.next_event_ms is not None and clock.now_ms(now) - run.next_event_ms > LATE_S * 1000 * clock.speed:
            Run.objects.filter(pk=run.pk).update(clock_sim_ms=run.next_event_ms, clock_wall=now)
            runner.announce(Run.objects.get(pk=run.pk))


def _waiting() -> QuerySet[Run]:
    """Runs that are not over and not at rest."""
    active = Run.objects.filter(status__in=Run.ACTIVE).exclude(status=Run.PAUSED, wanted=Run.PAUSED)
    return active.defer("metrics", "decision_ms")


def _held(run: Run) -> bool:
    """Whether somebody works on it."""
    return run.lease_until is not None and run.lease_until > timezone.now() and not lease.abandoned(run.lease_owner)


def _clock(run: Run) -> Clock:
    return Clock(run.clock_sim_ms, run.clock_wall or timezone.now(), run.clock_speed)
