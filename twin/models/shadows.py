"""Shadows: runs of every scheduler on the last hours of a live cluster."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from twin.models.inputs import ClusterSpec, Trace
from twin.models.live import Connection
from twin.models.runs import Run


class ShadowSet(models.Model):
    """One window of a live cluster under every scheduler, or under the model of its own (twin/studies/shadows)."""

    SHADOWS, REPLAY = "shadows", "replay"
    QUEUED, COMPUTING, FINISHED, CANCELLED, FAILED = "queued", "computing", "finished", "cancelled", "failed"
    ACTIVE = (QUEUED, COMPUTING)

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="shadow_sets")
    purpose = models.CharField(max_length=8, default=SHADOWS)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")  # the mirrored one
    trace = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="+")
    cluster = models.ForeignKey(ClusterSpec, null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(max_length=12, default=QUEUED, db_index=True)
    message = models.TextField(blank=True)  # reason of a failure
    length_ms = models.BigIntegerField()  # of the window asked for
    from_ms = models.BigIntegerField(null=True)  # the window, in ms of the log; known once it is cut
    until_ms = models.BigIntegerField(null=True)
    seq = models.BigIntegerField(default=0)  # newest event of the mirrored run then
    # {slot_ms, jobs, scored, real: metrics of the real cluster, sentences, cannot: [{scheduler, reason}],
    #  cannot_believe: the same of schedulers that cannot run on beliefs, beliefs: {name, believed_ms}}
    facts = models.JSONField(default=dict)
    history = models.BinaryField(default=b"")  # what happened to each job (metrics.History)
    owner = models.CharField(max_length=100, blank=True)  # process that computes it, and the end of that lease
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)  # None: the twin
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]


class Shadow(models.Model):
    """One scheduler in a set, in an ordinary batch run."""

    WAITING, DONE, FAILED = "waiting", "done", "failed"

    set = models.ForeignKey(ShadowSet, on_delete=models.CASCADE, related_name="shadows")
    scheduler = models.CharField(max_length=60)
    durations = models.CharField(max_length=16)  # that its scheduler knows: twin/studies/shadows/sets.py
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(max_length=8, default=WAITING)
    message = models.TextField(blank=True)  # reason of a failure
    figures = models.JSONField(default=dict)  # {key of the table of metrics: value}
    deltas = models.JSONField(default=dict)  # {key: value minus that of the real cluster}

    class Meta:
        ordering = ["id"]
