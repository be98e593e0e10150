"""Alerts: rules with thresholds, what they found, and the notices of it that are sent."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from twin.models.runs import Run
from twin.models.teams import Owned

SERIOUS, NOTABLE = "serious", "notable"
LEVELS = (SERIOUS, NOTABLE)


class AlertRule(Owned):
    """A rule (twin/alerts/rules) with its thresholds, for everything that is watched or for one target.

    A rule of a target replaces the rule of the same name for everything.
    """

    rule = models.CharField(max_length=60)  # name of a file of twin/alerts/rules
    target = models.CharField(max_length=80, blank=True, default="")  # "connection lab", "run 5"; "" = everything
    parameters = models.JSONField(default=dict)
    level = models.CharField(max_length=8, default=NOTABLE)
    clear_s = models.IntegerField(default=30)  # an alert ends when its finding was absent for this time
    enabled = models.BooleanField(default=True)
    error = models.TextField(blank=True, default="")  # why it could not be checked the last time
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["rule", "target"]
        constraints = [models.UniqueConstraint(fields=["rule", "target"], name="one_rule_of_a_target")]


class Alert(Owned):
    """A finding of a rule about one subject of a target, from when it was found until it was absent for a while."""

    CLEARED, UNWATCHED, OFF = "cleared", "unwatched", "off"  # endings

    rule = models.CharField(max_length=60)
    target = models.CharField(max_length=80)  # "connection lab" or "run 5"
    subject = models.CharField(max_length=300, blank=True, default="")  # of several findings of a rule
    # in which it was found last; a live cluster has a new one now and then
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    level = models.CharField(max_length=8)
    code = models.CharField(max_length=60)  # which of the sentences of its rule
    values = models.JSONField(default=dict)
    quiet = models.BooleanField(default=False)  # of the demo: it is shown, and neither recorded nor sent
    began_at = models.DateTimeField()
    began_ms = models.BigIntegerField(null=True)  # in ms of the run's log
    absent_at = models.DateTimeField(null=True)  # since when the finding is absent, while the alert is open
    ended_at = models.DateTimeField(null=True)
    ending = models.CharField(max_length=10, blank=True, default="")
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    acknowledged_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "target", "subject"], condition=Q(ended_at=None), name="one_open_alert"
            )
        ]
        indexes = [models.Index(fields=["ended_at"], name="alert_by_end")]  # the open ones, and those to delete


class AlertNotice(models.Model):
    """Notice that an alert was opened or has ended, kept until the receiver has it (twin/alerts/webhook)."""

    OPENED, ENDED = "opened", "ended"

    key = models.UUIDField(default=uuid.uuid4, unique=True)  # by which a receiver knows a repetition
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="notices")
    event = models.CharField(max_length=8)
    body = models.JSONField()
    made_at = models.DateTimeField()
    next_at = models.DateTimeField()  # not sent before
    attempts = models.IntegerField(default=0)
    delivered_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, default="")  # of the newest attempt

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["alert", "event"], name="one_notice_of_an_event")]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(delivered_at=None, given_up_at=None), name="notice_to_be_sent")
        ]


class AlertWork(models.Model):
    """The one row of the evaluation and of the delivery: who is at it, and what the newest turn did."""

    evaluating_until = models.FloatField(default=0)  # Unix s until which a worker is at it
    delivering_until = models.FloatField(default=0)
    evaluated_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)  # that the newest evaluation took
    watched = models.IntegerField(default=0)  # targets
    left = models.IntegerField(default=0)  # targets for which its time was too short
    next_target = models.CharField(max_length=80, blank=True, default="")  # the first of those
