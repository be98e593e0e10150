"""Live clusters: the connection, and what the mirror remembers of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from twin.models.runs import Run
from twin.models.teams import Owned


class Connection(Owned):
    """A real cluster that the twin follows (twin/mirror), and the run that mirrors it."""

    FOLLOWING, PAUSED = "following", "paused"

    name = models.SlugField(max_length=60, unique=True)
    connector = models.CharField(max_length=60)  # name of a file of twin/connectors
    # of the connector; secrets are names of files or of variables, never values
    parameters = models.JSONField(default=dict)
    sites = models.JSONField(default=dict)  # mirror.nodes.sites.SiteRule
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
    """State of one job, node or reservation of a mirror, from which it continues after a restart (mirror/stored.py).

    Also the backfill passes of ten minutes of it.
    """

    JOB, NODE, RESERVATION, PASSES = "job", "node", "resv", "pass"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="mirror_records")
    kind = models.CharField(max_length=4)
    index = models.IntegerField()
    payload = models.BinaryField()
    seq = models.BigIntegerField(default=0)  # of the newest event when it was written
    is_open = models.BooleanField(default=True)  # a job that has not ended, or a node

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "kind", "index"], name="one_mirror_record")]
        indexes = [
            models.Index(fields=["run", "kind", "seq"], name="mirror_record_after_seq"),
            models.Index(fields=["run", "kind", "is_open"], name="mirror_record_open"),
        ]
