"""Sources that push events, and what they sent."""

from __future__ import annotations

from django.db import models


class PushSource(models.Model):
    """Source: a cluster that posts events about itself (twin/push), with its newest sequence number."""

    name = models.CharField(max_length=60, unique=True)
    last_seq = models.BigIntegerField(default=0)  # sequence number of its newest event, given in the order of arrival
    contact_ms = models.BigIntegerField(default=0)  # when it posted last, a heartbeat included, in Unix ms of our clock
    event_ms = models.BigIntegerField(default=0)  # time of its newest event, in Unix ms of its own clock
    created_at = models.DateTimeField(auto_now_add=True)


class PushedEvent(models.Model):
    """An accepted event of a source. `key`: its job or node, whose state follows from events alone (push/fold.py)."""

    source = models.ForeignKey(PushSource, on_delete=models.CASCADE, related_name="events", db_index=False)
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
