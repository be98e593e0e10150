"""Inputs of runs: traces, clusters, and the scenarios that join them."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db import models

from twin.models.teams import Owned
from twin.moments import run_moment, unix_ms


class Trace(Owned):
    """An uploaded or generated workload. Its jobs are stored as columns in `jobs` (twin/files/packed_jobs.py)."""

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
    REMEDIES = {SCANNED: "import it first", FAILED: "choose another one", CANCELLED: "import it again"}
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
    options = models.JSONField(default=dict)  # {slot_ms, mapping} and the fields of importing/choice.py: Choice
    scan = models.JSONField(default=dict)  # result of the scan (importing/scan.py), or why the files are unclear
    # moment of the real world from which its times count: of a cut, where the log of the mirrored run begins
    began_at = models.DateTimeField(null=True)
    job_count = models.IntegerField(default=0)
    server_count = models.IntegerField(default=0)
    report = models.JSONField(default=dict)  # counts, the first skipped rows with line and reason, provenance counts
    skipped_csv = models.BinaryField(default=b"")  # every skipped row, gzipped
    preview = models.JSONField(default=list)  # the first jobs as they are understood
    jobs = models.BinaryField(default=b"")  # packed_jobs.pack_jobs
    touched_at = models.DateTimeField(auto_now_add=True)  # the import's last heartbeat
    progressed_at = models.DateTimeField(null=True)  # when the import last made progress
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    @property
    def not_ready_text(self) -> str:
        """Sentence on why no scenario can use the trace yet, with what to do; "" if it is ready."""
        if self.status == self.READY:
            return ""
        return f"trace {self.name} is {self.status}; {self.REMEDIES.get(self.status, 'wait until it is imported')}"


class ClusterSpec(Owned):
    """A cluster that scenarios can choose: from a trace's list of servers, a generator, or an upload."""

    name = models.CharField(max_length=200)
    source = models.CharField(max_length=200, blank=True)  # origin, as text
    trace = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="clusters")
    spec = models.JSONField()  # the content of cluster.json
    server_count = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def made_of(self) -> list[Owned | None]:
        return [self.trace]


class Scenario(Owned):
    """A cluster, a trace, a scheduler with its parameters, a seed and beliefs: all that determines an event log."""

    name = models.CharField(max_length=200)
    cluster = models.ForeignKey(ClusterSpec, on_delete=models.PROTECT)
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT)
    scheduler = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    edits = models.JSONField(default=list)  # what-if edits in order (twin/scenarios/edits); its runs have their own
    # {name, believed_ms: [run time of each job]} that the scheduler knows instead of the true work; None: it knows that
    beliefs = models.JSONField(null=True)
    version = models.IntegerField(default=1)  # of name and edits: an edit of an older version is refused
    # the run that it is a fork of
    parent = models.ForeignKey("Run", null=True, on_delete=models.SET_NULL, related_name="forks")
    fork_ms = models.BigIntegerField(null=True)  # start of the edits
    unlisted = models.BooleanField(default=False)  # a point of a sweep, or a shadow: lists leave it out
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def made_of(self) -> list[Owned | None]:
        return [self.trace, self.cluster]

    @cached_property
    def began_at(self) -> datetime | None:
        """That of its trace, of which no more is read: its jobs are large."""
        if Scenario.trace.is_cached(self):
            return self.trace.began_at
        return Trace.objects.values_list("began_at", flat=True).get(pk=self.trace_id)

    @property
    def epoch_ms(self) -> int | None:
        """The same moment in Unix ms."""
        return None if self.began_at is None else unix_ms(self.began_at)

    def moment(self, ms: int) -> str:
        """Time of the scenario as text."""
        return run_moment(ms, self.epoch_ms)
