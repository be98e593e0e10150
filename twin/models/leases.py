"""Leases of background tasks."""

from __future__ import annotations

from django.db import models


class TaskLease(models.Model):
    """Lease of a background task for one key: no other worker computes it meanwhile (twin/processes/exclusive.py).

    The lease of a cancelled task has no owner; no worker computes the task before `until`.
    """

    task = models.CharField(max_length=40)  # name in twin.tasks
    key = models.BigIntegerField()
    owner = models.CharField(max_length=100)  # process that computes it
    until = models.DateTimeField()
    cancelled = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "key"], name="one_lease_of_a_task")]
