"""Database models: traces, clusters, scenarios, runs, and the event log of each run."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models


class Trace(models.Model):
    """An uploaded or generated workload. Its jobs are stored as gzipped jobs.jsonl in `jobs`."""

    UPLOADING, QUEUED, PARSING, READY, FAILED, CANCELLED = (
        "uploading",
        "queued",
        "parsing",
        "ready",
        "failed",
        "cancelled",
    )
    SCANNED = "scanned"  # scanned; waits for a selection
    BUSY = (UPLOADING, QUEUED, PARSING)
    SCAN, IMPORT = "scan", "import"

    name = models.CharField(max_length=200)
    format = models.CharField(max_length=200, default="auto")
    status = models.CharField(max_length=12, default=QUEUED)
    stage = models.CharField(max_length=8, default=IMPORT)  # what the worker does next
    message = models.TextField(blank=True)  # reason of a failure, in one line
    progress = models.FloatField(default=0)  # 0..1 of the bytes parsed
    # of the files' SHA-256; duplicates are found by it
    checksum = models.CharField(max_length=64, blank=True, db_index=True)
    # [{name, size, received, path}]: path is a random name under UPLOAD_DIR, gone once imported
    files = models.JSONField(default=list)
    seed = models.BigIntegerField(default=0)
    options = models.JSONField(default=dict)  # {slot_ms, mapping} and the fields of importers.Choice
    scan = models.JSONField(default=dict)  # result of the scan (importers/scan.py), or why the files are unclear
    job_count = models.IntegerField(default=0)
    server_count = models.IntegerField(default=0)
    report = models.JSONField(default=dict)  # counts, the first skipped rows with line and reason, provenance counts
    skipped_csv = models.BinaryField(default=b"")  # every skipped row, gzipped
    preview = models.JSONField(default=list)  # the first jobs as they are understood
    jobs = models.BinaryField(default=b"")  # jobtable.pack_jobs
    touched_at = models.DateTimeField(auto_now_add=True)  # the import's last heartbeat
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class ClusterSpec(models.Model):
    """A cluster that scenarios can choose: from a trace's machine list, a generator, or an upload."""

    name = models.CharField(max_length=200)
    source = models.CharField(max_length=200, blank=True)  # origin, as text
    trace = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="clusters")
    spec = models.JSONField()  # the content of cluster.json
    server_count = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class Scenario(models.Model):
    """A cluster, a trace, a scheduler with its parameters, and a seed: all that determines an event log."""

    name = models.CharField(max_length=200)
    cluster = models.ForeignKey(ClusterSpec, on_delete=models.PROTECT)
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT)
    scheduler = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    edits = models.JSONField(default=list)  # what-if edits in their order (twin/edits); those of its runs are their own
    version = models.IntegerField(default=1)  # of name and edits: an edit of an older version is refused
    # the run that it is a fork of
    parent = models.ForeignKey("Run", null=True, on_delete=models.SET_NULL, related_name="forks")
    fork_ms = models.BigIntegerField(null=True)  # start of the edits
    of_sweep = models.BooleanField(default=False)  # a point of a sweep: lists leave it out
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


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
    BATCH, LIVE, MIRROR = "batch", "live", "mirror"

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
    # The log.
    last_seq = models.BigIntegerField(default=0)
    sim_ms = models.BigIntegerField(default=0)  # time of the last event
    end_ms = models.BigIntegerField(null=True)  # time of the last event of a finished run
    progressed_at = models.DateTimeField(null=True)  # when events were last added to it
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


class Sweep(models.Model):
    """Scenario over a grid of parameters, edits and seeds: many runs."""

    name = models.CharField(max_length=200)
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="sweeps")
    axes = models.JSONField()  # [{parameter, values} or {edit, field, values}], one or two
    seeds = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class SweepPoint(models.Model):
    """Point of a sweep: its index on each axis, the seed, and its run."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="points")
    place = models.JSONField()  # [index on each axis]
    seed = models.BigIntegerField()
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="points")

    class Meta:
        ordering = ["id"]


class EventBatch(models.Model):
    """Consecutive events of one run in one row (see event_log.py for the payload)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    first_ms = models.BigIntegerField()
    last_ms = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["run", "first_seq"], name="batch_starts_once")]
        # "after seq" of a reconnecting page
        indexes = [models.Index(fields=["run", "last_seq"], name="batch_after_seq")]


class Checkpoint(models.Model):
    """A state of a run's simulation: the newest ones, and some before, from which forks begin (eventlog.keep)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    seq = models.BigIntegerField()  # the state is the one right after this event
    payload = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_state_after_an_event")]


class FoldedState(models.Model):
    """Stored fold of a run's log up to an event (eventlog.stored_states); computed again from the log if missing."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="folded")
    version = models.IntegerField()  # of state_codec
    seq = models.BigIntegerField()
    sim_ms = models.BigIntegerField()  # time of that event
    payload = models.BinaryField()  # empty when the log cannot be folded


class Connection(models.Model):
    """A real cluster that the twin follows (twin/mirror), and the run that mirrors it."""

    FOLLOWING, PAUSED = "following", "paused"

    name = models.SlugField(max_length=60, unique=True)
    connector = models.CharField(max_length=60)  # name of a file of twin/connectors
    # of the connector; secrets are names of files or of variables, never values
    parameters = models.JSONField(default=dict)
    sites = models.JSONField(default=dict)  # mirror.sites.SiteRule
    interval_ms = models.IntegerField(default=1_000)  # poll interval, where the cluster is polled
    sampler = models.CharField(max_length=60, blank=True, default="")  # name of a file of twin/samplers; "" = none
    sampler_parameters = models.JSONField(default=dict)
    wanted = models.CharField(max_length=12, default=FOLLOWING)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="connections")
    health = models.JSONField(default=dict)  # mirror.following.Health, as the follower wrote it last
    drift = models.JSONField(default=dict)  # result of the newest audit (mirror/drift_task.py)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]


class MirrorRecord(models.Model):
    """State of one job or node of a mirror, from which it continues after a restart (mirror/stored.py)."""

    JOB, NODE = "job", "node"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="mirror_records")
    kind = models.CharField(max_length=4)
    index = models.IntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "kind", "index"], name="one_mirror_record")]


class AuditEntry(models.Model):
    """Entry of the audit list: user, action, subject and time."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    action = models.CharField(max_length=60)  # run.start, run.pause, trace.upload, ...
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]

    def save(self, *args: Any, **given: Any) -> None:
        """Stores the entry; where a token acted for the user, with its name."""
        if token := getattr(self.user, "through_token", None):
            self.detail = {**self.detail, "token": token}
        super().save(*args, **given)


class PushSource(models.Model):
    """Source: a cluster that posts events about itself (twin/push), with its newest sequence number."""

    name = models.CharField(max_length=60, unique=True)
    last_seq = models.BigIntegerField(default=0)  # sequence number of its newest event, given in the order of arrival
    created_at = models.DateTimeField(auto_now_add=True)


class PushedEvent(models.Model):
    """An accepted event of a source. `key`: its job or node, whose state follows from events alone (push/fold.py)."""

    source = models.ForeignKey(PushSource, on_delete=models.CASCADE, related_name="events")
    seq = models.BigIntegerField()
    digest = models.BinaryField(max_length=16)  # of the sender's source and id: an event that comes again has the same
    key = models.CharField(max_length=201)  # "j" or "n" for job or node, then its name
    ends = models.BooleanField()  # the job has ended by it
    at_ms = models.BigIntegerField()  # when it happened, in Unix ms of the sender's clock
    received_ms = models.BigIntegerField()
    payload = models.BinaryField()  # push/events.py

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["source", "seq"], name="pushed_in_one_order"),
            models.UniqueConstraint(fields=["source", "digest"], name="pushed_once"),
        ]
        indexes = [models.Index(fields=["source", "key"], name="pushed_of_one_key")]


class PushSnapshot(models.Model):
    """A statement of a source of all of its jobs, its nodes, or both; until it is ended, of a part of them."""

    source = models.ForeignKey(PushSource, on_delete=models.CASCADE, related_name="snapshots")
    name = models.CharField(max_length=200)  # the sender's id of it
    at_ms = models.BigIntegerField()
    covers = models.JSONField()  # ["jobs"], ["nodes"] or both
    parts = models.JSONField(default=dict)  # {number of the part: [jobs, nodes]}
    ended = models.BooleanField(default=False)

    class Meta:
        ordering = ["at_ms"]
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="push_snapshot_once")]
