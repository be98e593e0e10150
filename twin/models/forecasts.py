"""Forecasts of a live cluster, and their scores."""

from __future__ import annotations

from django.db import models

from twin.models.live import Connection
from twin.models.runs import Run


class Forecasting(models.Model):
    """The newest forecast of a connection's jobs, and what it has learned (mirror/forecasts)."""

    connection = models.OneToOneField(
        Connection, primary_key=True, on_delete=models.CASCADE, related_name="forecasting"
    )
    made_ms = models.BigIntegerField(null=True)  # by the cluster's clock
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    seq = models.BigIntegerField(default=0)  # event of the run up to which it knows
    rows = models.JSONField(default=list)  # of the waiting jobs in the order of priority (forecasts/rows.py)
    ends = models.JSONField(default=list)  # of the running jobs, the earliest first (forecasts/rows.py)
    learned = models.BinaryField(default=b"")  # forecasts/learning.py
    estimates = models.JSONField(default=dict)  # {key: Unix ms}: the cluster's own expected starts
    constraints = models.JSONField(default=dict)  # connectors.constraints.Constraints as plain data
    figures = models.JSONField(default=dict)  # forecasts/accuracy.py
    error = models.TextField(blank=True, default="")  # why there is no newer one
    seconds = models.FloatField(null=True)  # that the newest one took


class Forecast(models.Model):
    """A forecast of one job by one method that is to be scored; times in Unix ms of the cluster's clock."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="forecasts")
    job = models.CharField(max_length=300)  # forecasts.situation.identity
    occasion = models.CharField(max_length=12)  # submission | 25 % | 50 % | 75 % | hour
    method = models.CharField(max_length=20)  # twin | system | name of a run-time predictor
    made_ms = models.BigIntegerField()
    start_ms = models.BigIntegerField()
    finish_ms = models.BigIntegerField(null=True)
    low_ms = models.BigIntegerField(null=True)  # the band of the start
    high_ms = models.BigIntegerField(null=True)
    scored = models.BooleanField(default=False)  # the start: the finish is still to come

    class Meta:
        indexes = [models.Index(fields=["connection", "job"], name="forecast_of_a_job")]


class Score(models.Model):
    """A forecast with the time at which the job really started or ended."""

    START, FINISH = "start", "finish"

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="scores")
    what = models.CharField(max_length=6)
    method = models.CharField(max_length=20)
    lead = models.SmallIntegerField()  # place in scheduling.forecast.scoring.LEADS
    made_ms = models.BigIntegerField()
    predicted_ms = models.BigIntegerField()
    real_ms = models.BigIntegerField()
    low_ms = models.BigIntegerField(null=True)
    high_ms = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["connection", "what", "method", "real_ms"], name="score_by_method")]
