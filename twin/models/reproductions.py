"""Reproductions: executions of experiments, in parts that workers compute in any order."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from twin.models.inputs import Trace


class Reproduction(models.Model):
    """One execution of an experiment, with its table (twin/studies/experiments)."""

    QUEUED, COMPUTING, FINISHED, CANCELLED, FAILED = "queued", "computing", "finished", "cancelled", "failed"
    ACTIVE = (QUEUED, COMPUTING)

    experiment = models.CharField(max_length=80, db_index=True)  # name of its file
    status = models.CharField(max_length=12, default=QUEUED, db_index=True)
    message = models.TextField(blank=True)  # reason of a failure
    seeds = models.IntegerField(null=True)  # None: as many as the experiment takes by itself
    trace = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="+")  # with the arrivals
    trace_name = models.CharField(max_length=200, blank=True)
    code = models.CharField(max_length=64)  # digest of the code behind it: experiments.code_digest
    table = models.TextField(blank=True)  # twin/studies/experiments/tables.py
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]


class ReproductionPart(models.Model):
    """Part of a reproduction. It is computed by the process that has its lease; its value stays when others fail."""

    WAITING, DONE, FAILED = "waiting", "done", "failed"

    reproduction = models.ForeignKey(Reproduction, on_delete=models.CASCADE, related_name="parts")
    title = models.CharField(max_length=200)
    status = models.CharField(max_length=8, default=WAITING)
    value = models.TextField(blank=True)  # JSON, also with infinite values
    seconds = models.FloatField(null=True)  # of its computation
    owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["reproduction", "title"], name="part_title")]
