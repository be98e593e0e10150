"""Rights of the twin on a live cluster: rules, proposals, and the journal of changes."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from twin.models.live import Connection
from twin.models.runs import Run


class ActingRule(models.Model):
    """Permissions of plans on the cluster of a connection, and the process that carries them out (twin/acting)."""

    OBSERVE, PROPOSE, ORDER, PLACE = range(4)

    connection = models.OneToOneField(Connection, primary_key=True, on_delete=models.CASCADE, related_name="acting")
    level = models.IntegerField(default=OBSERVE)
    queues = models.JSONField(default=list)  # whose jobs a plan may change; empty: of all
    accounts = models.JSONField(default=list)
    max_jobs = models.IntegerField(default=20)  # of one plan
    calibrated = models.BooleanField(default=True)  # plans need calibrated forecasts of the cluster
    stopped = models.BooleanField(default=False)  # all plans are stopped
    stopped_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    stopped_at = models.DateTimeField(null=True)
    # of the acting process: {host, account, clock_ms, error}, and when it last gave a sign of life
    actor = models.JSONField(default=dict)
    actor_at = models.DateTimeField(null=True)
    epoch = models.BigIntegerField(default=0)  # raised by each process that takes the lease
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)


class Proposal(models.Model):
    """Plan for the waiting jobs of a real cluster (twin/acting/plan.py), and its way from a run to the cluster."""

    COMPUTING, PROPOSED, APPROVED, APPLYING, APPLIED = "computing", "proposed", "approved", "applying", "applied"
    UNDOING, UNDONE, REFUSED, FAILED, DISCARDED = "undoing", "undone", "refused", "failed", "discarded"
    ENDED = "ended"
    OPEN = (APPROVED, APPLYING, APPLIED, UNDOING)  # the acting process has something to do for it

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="proposals")
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="proposals")  # that it follows
    scheduler = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict)
    kind = models.CharField(max_length=12)  # acting.plan.PLAN_TYPES
    status = models.CharField(max_length=12, default=COMPUTING, db_index=True)
    message = models.TextField(blank=True)  # why it is refused, failed or undone
    plan = models.JSONField(default=dict)  # {rows: [...], left_out: [[key, why]], order: [key]}
    digest = models.CharField(max_length=64, blank=True)  # of the plan: what is approved is what was shown
    undo_wanted = models.BooleanField(default=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    planned_at = models.DateTimeField(null=True)  # when the cluster was read for it
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    approved_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]


class JournalEntry(models.Model):
    """Entry of the journal: a change of a waiting job, written before it is sent, with the value that undoes it."""

    PLANNED, SENDING, SENT, VERIFIED, SKIPPED, FAILED = "planned", "sending", "sent", "verified", "skipped", "failed"
    UNDOING, UNDONE, ENDED, LEFT = "undoing", "undone", "ended", "left"
    MADE = (SENDING, SENT, VERIFIED, UNDOING)  # the cluster may have it

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="entries")
    number = models.IntegerField()
    key = models.CharField(max_length=200)
    submitted_ms = models.BigIntegerField()
    field = models.CharField(max_length=16)  # actuators.facts.FIELDS
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    previous = models.JSONField(null=True)  # of a begin time that is renewed: the value before
    until_ms = models.BigIntegerField(null=True)  # of a begin time: until when it is renewed, in the cluster's Unix ms
    state = models.CharField(max_length=10, default=PLANNED)
    message = models.TextField(blank=True)
    at = models.DateTimeField(null=True)  # of the newest call for it

    class Meta:
        ordering = ["proposal", "number"]
        constraints = [models.UniqueConstraint(fields=["proposal", "number"], name="one_deed")]
