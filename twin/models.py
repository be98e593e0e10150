"""What the twin keeps: traces, clusters, scenarios, runs, and the event log that is the truth about a run."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Trace(models.Model):
    """An uploaded or generated workload. Its jobs are stored as gzipped jobs.jsonl in `jobs`."""

    UPLOADING, QUEUED, PARSING, READY, FAILED, CANCELLED = "uploading", "queued", "parsing", "ready", "failed", "cancelled"
    SCANNED = "scanned"  # looked at; waits for somebody to choose what is imported
    BUSY = (UPLOADING, QUEUED, PARSING)
    SCAN, IMPORT = "scan", "import"

    name = models.CharField(max_length=200)
    format = models.CharField(max_length=200, default="auto")
    status = models.CharField(max_length=12, default=QUEUED)
    stage = models.CharField(max_length=8, default=IMPORT)  # what the worker does next
    message = models.TextField(blank=True)  # why it failed, in one line
    progress = models.FloatField(default=0)  # 0..1 of the bytes parsed
    checksum = models.CharField(max_length=64, blank=True, db_index=True)  # of the files' SHA-256; duplicates are found by it
    files = models.JSONField(
        default=list
    )  # [{name, size, received, path}]: path is a random name under UPLOAD_DIR, gone once imported
    seed = models.BigIntegerField(default=0)
    options = models.JSONField(default=dict)  # {slot_ms, mapping} and the fields of importers.Choice
    scan = models.JSONField(default=dict)  # what a look at the files found (importers/scan.py), or why they are unclear
    job_count = models.IntegerField(default=0)
    server_count = models.IntegerField(default=0)
    report = models.JSONField(default=dict)  # counts, the first skipped rows with line and reason, provenance counts
    skipped_csv = models.BinaryField(default=b"")  # every skipped row, gzipped
    preview = models.JSONField(default=list)  # the first jobs as they are understood
    jobs = models.BinaryField(default=b"")  # jobtable.pack_jobs
    touched_at = models.DateTimeField(auto_now_add=True)  # the import's last sign of life
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class ClusterSpec(models.Model):
    """A cluster that scenarios can choose: from a trace's machine list, a generator, or an upload."""

    name = models.CharField(max_length=200)
    source = models.CharField(max_length=200, blank=True)  # where it comes from, for people
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
    version = models.IntegerField(default=1)  # of name and edits: who edits an older one is told
    parent = models.ForeignKey("Run", null=True, on_delete=models.SET_NULL, related_name="forks")  # the run that it is a fork of
    fork_ms = models.BigIntegerField(null=True)  # from which moment on it is edited
    of_sweep = models.BooleanField(default=False)  # a point of a sweep: lists leave it out
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class Run(models.Model):
    """One execution of a scenario, its lease, its clock and how far its log reaches."""

    QUEUED, RUNNING, PAUSED, FINISHED, CANCELLED, FAILED = "queued", "running", "paused", "finished", "cancelled", "failed"
    ACTIVE = (QUEUED, RUNNING, PAUSED)
    BATCH, LIVE = "batch", "live"

    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="runs")
    edits = models.JSONField(default=list)  # of the scenario when the run was started
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")  # whose log it begins with
    fork_ms = models.BigIntegerField(null=True)  # up to the end of this instant
    mode = models.CharField(max_length=8, default=BATCH)  # batch: as fast as it computes; live: paced by the clock
    status = models.CharField(max_length=12, default=QUEUED, db_index=True)
    wanted = models.CharField(max_length=12, default=RUNNING)  # what the operator asked for: running | paused | cancelled
    message = models.TextField(blank=True)  # why it paused or failed, in one line
    # The lease: whoever holds the newest epoch may write; every write checks it, so a late twin of a task does no harm.
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, db_index=True)
    # The log.
    last_seq = models.BigIntegerField(default=0)
    sim_ms = models.BigIntegerField(default=0)  # time of the last event
    end_ms = models.BigIntegerField(null=True)  # time of the last event of a finished run
    # The clock of a live run: sim time was clock_sim_ms at clock_wall, and passes clock_speed ms a ms (0 = paused).
    clock_sim_ms = models.BigIntegerField(default=0)
    clock_wall = models.DateTimeField(null=True)
    clock_speed = models.FloatField(default=0)
    next_event_ms = models.BigIntegerField(null=True)  # of a live run: nothing to do before this time
    metrics = models.JSONField(default=dict)
    decision_ms = models.JSONField(default=dict)  # {p50, p95, max, count}: measured, so outside the log
    certificate = models.JSONField(
        default=dict
    )  # {kind, achieved, bound, ratio, jobs, seq, at_ms, slots, seconds} (certifying.py)
    certificate_prices = models.BinaryField(default=b"")  # columns.pack of prices[slot, pool, resource]
    certified_seq = models.BigIntegerField(default=0)  # the event up to which the certificate looked
    certify_after = models.DateTimeField(null=True)  # not asked for again before this time
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]


class Sweep(models.Model):
    """One scenario over a grid of parameters and edits, and several seeds: many runs."""

    name = models.CharField(max_length=200)
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="sweeps")
    axes = models.JSONField()  # [{parameter, values} or {edit, field, values}], one or two
    seeds = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class SweepPoint(models.Model):
    """One of them: the place on each axis, the seed, and its run."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="points")
    place = models.JSONField()  # [index on each axis]
    seed = models.BigIntegerField()
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="points")

    class Meta:
        ordering = ["id"]


class EventBatch(models.Model):
    """Consecutive events of one run in one row (see eventlog.py for the payload)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    first_ms = models.BigIntegerField()
    last_ms = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["run", "first_seq"], name="batch_starts_once")]
        indexes = [models.Index(fields=["run", "last_seq"], name="batch_after_seq")]  # "after seq" of a reconnecting page


class Checkpoint(models.Model):
    """A state of a run's simulation: the newest ones, and some of those before, from which forks begin (eventlog.keep)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    seq = models.BigIntegerField()  # the state is the one right after this event
    payload = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_state_after_an_event")]


class AuditEntry(models.Model):
    """Who changed what, when."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    action = models.CharField(max_length=60)  # run.start, run.pause, trace.upload, ...
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
