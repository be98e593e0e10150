"""Check of the form of a new run before its scenario exists: jobs that the scheduler would reject on the cluster."""

from __future__ import annotations

from typing import Any

import orjson
from django.shortcuts import get_object_or_404
from rest_framework import serializers

from scheduling.kernel.registry import build
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, ModelError
from scheduling.workloads import generate
from twin.analysis import suitability
from twin.analysis.suitability import Demands
from twin.files.job_table import JobTable
from twin.models import ClusterSpec, Trace
from twin.scenarios import store

MAX_TRIED = 50  # clusters, the newest first
GENERATED_SERVERS = 60  # enough to know the kinds of servers that the generator makes


class SuitabilitySerializer(serializers.Serializer[Any]):
    """Choices of the form."""

    trace = serializers.IntegerField(min_value=1)
    cluster = serializers.CharField(required=False, max_length=20, help_text="a number, or `generate`")
    scheduler = serializers.CharField(max_length=200)
    parameters = serializers.CharField(default="{}", max_length=20_000, help_text="JSON object")

    def validate_cluster(self, value: str) -> str:
        """The number of a cluster, or `generate`."""
        if value != "generate" and not value.isdecimal():
            raise serializers.ValidationError(f"a cluster must be a number or generate, got {value!r}")
        return value

    def validate_parameters(self, value: str) -> dict[str, Any]:
        """{name: text}"""
        try:
            found = orjson.loads(value)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise serializers.ValidationError(f"parameters must be a JSON object, got {value[:80]!r}")
        return found


def checked_form(trace: int, scheduler: str, parameters: dict[str, Any], cluster: str | None = None) -> dict[str, Any]:
    """{cluster: number, "generate" or null, warnings: [sentence]}"""
    get_object_or_404(Trace.objects.only("id"), pk=trace, status=Trace.READY)
    table = store.jobs_of(trace).table
    demands, chosen = Demands(table), build(scheduler, parameters)
    if cluster is None:
        return {"cluster": _newest_that_fits(chosen, table, demands), "warnings": []}
    on = _cluster(cluster)
    found = suitability.judge(chosen, on, table, demands)
    others = [] if found.fine else suitability.able_schedulers(on, table, demands)
    return {
        "cluster": cluster if cluster == "generate" else int(cluster),
        "warnings": suitability.warnings(chosen, found, others),
    }


def _cluster(cluster: str) -> Cluster:
    if cluster == "generate":
        return generate("oasis", num_jobs=0, num_servers=GENERATED_SERVERS, seed=0, horizon_slots=100)[0]
    return store.cluster_of(get_object_or_404(ClusterSpec.objects.only("id"), pk=int(cluster)).pk)


def _newest_that_fits(scheduler: BaseScheduler, table: JobTable, demands: Demands) -> int | None:
    """Newest cluster on which all jobs can run, or else the newest one on which they fit."""
    fits = None
    for number in ClusterSpec.objects.order_by("-id").values_list("id", flat=True)[:MAX_TRIED]:
        try:
            found = suitability.judge(scheduler, store.cluster_of(number), table, demands)
        except ModelError:  # of a cluster that the scheduler cannot use
            continue
        if found.fine:
            return number
        if fits is None and not found.unfit.jobs:
            fits = number
    return fits
