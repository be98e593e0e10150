"""Runs and sweeps of a scenario."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models

from twin.models.inputs import Scenario
from twin.models.run_modes import BATCH, LIVE, MIRROR, MODES, RunMode
from twin.models.teams import Owned
from twin.moments import run_moment, unix_ms


class Run(models.Model):
    """Execution of a scenario, with its lease, its clock and the extent of its log."""

    QUEUED, RUNNING, PAUSED, FINISHED, CANCELLED, FAILED = (
        "queued",
        "running",
        "paused",
        "finished",
        "cancelled",
        "failed",
    )
    ACTIVE = (QUEUED, RUNNING, PAUSED)
    BATCH, LIVE, MIRROR = BATCH, LIVE, MIRROR

    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="runs")
    edits = models.JSONField(default=list)  # of the scenario when the run was started
    # whose log it begins with
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    # of a mirrored run: the run of the same cluster that ended where it begins (mirror/borders.py)
    follows = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="followed_by")
    fork_ms = models.BigIntegerField(null=True)  # up to the end of this instant
    # batch: as fast as it computes; live: paced by the clock; mirror: what a real cluster does (twin/mirror)
    mode = models.CharField(max_length=8, default=BATCH)
    status = models.CharField(max_length=12, default=QUEUED, db_index=True)
    # requested by the operator: running | paused | cancelled
    wanted = models.CharField(max_length=12, default=RUNNING)
    message = models.TextField(blank=True)  # reason of a pause or failure, in one line
    # The lease: whoever holds the newest epoch may write; every write checks it, so a late twin of a task does no harm.
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, db_index=True)
    leased_at = models.DateTimeField(null=True)  # when the newest lease was taken
    # The log.
    last_seq = models.BigIntegerField(default=0)
    sim_ms = models.BigIntegerField(default=0)  # time of the last event
    end_ms = models.BigIntegerField(null=True)  # time of the last event of a finished run
    progressed_at = models.DateTimeField(null=True)  # when events were last added to it
    packed_at = models.DateTimeField(null=True)  # when its log was packed or could not be (eventlog/packing.py)
    held_since = models.DateTimeField(null=True)  # since when the database takes no events of it (holds.py)
    # The clock of a live run: sim time was clock_sim_ms at clock_wall, and passes clock_speed ms a ms (0 = paused).
    clock_sim_ms = models.BigIntegerField(default=0)
    clock_wall = models.DateTimeField(null=True)
    clock_speed = models.FloatField(default=0)
    next_event_ms = models.BigIntegerField(null=True)  # of a live run: nothing to do before this time
    slow = models.BooleanField(default=False)  # a computation of it took long: it runs in the queue `long` (pools.py)
    metrics = models.JSONField(default=dict)
    decision_ms = models.JSONField(default=dict)  # {p50, p95, max, count}: measured, so outside the log
    # {kind, achieved, bound, ratio, jobs, seq, at_ms, slots, seconds} (certificate_task.py)
    certificate = models.JSONField(default=dict)
    certificate_prices = models.BinaryField(default=b"")  # columns.pack of prices[slot, pool, resource]
    certified_seq = models.BigIntegerField(default=0)  # newest event that the certificate covers
    certify_after = models.DateTimeField(null=True)  # not requested again before this time
    # process that computes it; empty while it is only requested
    certify_owner = models.CharField(max_length=100, blank=True)
    certify_until = models.DateTimeField(null=True)  # the end of that lease
    certify_began = models.DateTimeField(null=True)  # when its owner began
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    @property
    def mode_rules(self) -> RunMode:
        """Rules of its mode, which code asks for instead of comparing the mode."""
        return MODES[self.mode]

    @property
    def began_at(self) -> datetime | None:
        """Moment of the real world from which its times count; None of a run whose times count from no such moment.

        A cut of a mirrored run has the times of that run in its trace, and so have its forks and copies.
        """
        return self.clock_wall if self.mode_rules.dated else self.scenario.began_at

    @property
    def epoch_ms(self) -> int | None:
        """The same moment in Unix ms."""
        return None if self.began_at is None else unix_ms(self.began_at)

    def moment(self, ms: int) -> str:
        """Time of its log as text."""
        return run_moment(ms, self.epoch_ms)

    @property
    def whole_certificate(self) -> dict[str, Any]:
        """The certificate of the whole log; empty while there is none, or only one of an earlier part."""
        return self.certificate if self.certificate.get("seq") == self.last_seq else {}


class Sweep(Owned):
    """Scenario over a grid of parameters, edits and seeds: many runs."""

    name = models.CharField(max_length=200)
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="sweeps")
    axes = models.JSONField()  # [{parameter, values} or {edit, field, values}], one or two
    seeds = models.JSONField()
    # content of the scenario when the sweep was started (studies/sweeps.py: PINNED): all points are made of it
    pinned = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def made_of(self) -> list[Owned | None]:
        return [self.scenario]


class SweepPoint(models.Model):
    """Point of a sweep: its index on each axis, the seed, and its run."""

    WAITING, CANCELLED = "waiting", "cancelled"

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="points")
    place = models.JSONField()  # [index on each axis]
    seed = models.BigIntegerField()
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="points")
    # waiting: its run is still to be created; cancelled: before it was; empty: it has or had a run
    pending = models.CharField(max_length=9, default="", db_index=True)

    class Meta:
        ordering = ["id"]
