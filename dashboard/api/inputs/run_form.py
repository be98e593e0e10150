"""Check of the form of a new run before its scenario exists: jobs that the scheduler would reject on the cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
from django.db.models import QuerySet
from rest_framework import serializers

from dashboard.auth.visible import one, visible
from scheduling.kernel.registry import build
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, ModelError
from scheduling.workloads import generate
from twin.analysis import suitability
from twin.analysis.suitability import Demands
from twin.files.job_table import JobTable
from twin.models import ClusterSpec, Trace
from twin.runs import earlier
from twin.scenarios import store
from twin.studies import races

MAX_TRIED = 50  # clusters, the newest first
MAX_ASKED = 20_000  # jobs whose durations are computed for the horizon
GENERATED_SERVERS = 60  # enough to know the kinds of servers that the generator makes


class SuitabilitySerializer(serializers.Serializer[Any]):
    """Choices of the form."""

    trace = serializers.IntegerField(min_value=1)
    cluster = serializers.CharField(required=False, max_length=20, help_text="Number of a cluster, or `generate`")
    scheduler = serializers.CharField(max_length=200)
    slot_ms = serializers.IntegerField(required=False, min_value=1, max_value=MAX_INT)
    parameters = serializers.CharField(
        default="{}", max_length=20_000, help_text="Parameters of the scheduler, as a JSON object"
    )

    def validate_cluster(self, value: str) -> str:
        """The number of a cluster, or `generate`."""
        if value != "generate" and not value.isdecimal():
            raise serializers.ValidationError(f"a cluster must be a number or generate, got {value!r}")
        return value

    def validate_parameters(self, value: str) -> dict[str, Any]:
        """{name: text}; an empty field stands for the default, as in a scenario."""
        try:
            found = orjson.loads(value)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise serializers.ValidationError(f"parameters must be a JSON object, got {value[:80]!r}")
        return {name: text for name, text in found.items() if text not in ("", None)}


def checked_form(
    user: Any,
    trace: int,
    scheduler: str,
    parameters: dict[str, Any],
    cluster: str | None = None,
    slot_ms: int | None = None,
) -> dict[str, Any]:
    """{cluster: number, "generate" or null, warnings: [sentence], own_horizon: slots or null, fit}

    own_horizon: that of the scheduler after the last arrival, where the cluster has none; null where there is no end,
    or too many jobs to ask.
    fit: {jobs, runnable, made: {drawn | derived: {field: jobs}}, schedulers: {name: runnable jobs}, reasons: {name: why
    it cannot run the others}, race: {name: why it cannot race against this scheduler}, earlier: {name: {runs, least_s,
    most_s}} of finished runs of about this size}, null without a cluster.
    """
    one(Trace.objects.only("id"), user, pk=trace, status=Trace.READY)
    jobs = store.jobs_of(trace)
    table = jobs.table
    demands, chosen = Demands(table), build(scheduler, parameters)
    if cluster is None:
        newest = _newest_that_fits(visible(ClusterSpec.objects.all(), user), chosen, table, demands)
        return {"cluster": newest, "warnings": [], "own_horizon": None, "fit": None}
    on = _cluster(cluster, user)
    if slot_ms is not None:
        on = replace(on, slot_ms=slot_ms)
    found = suitability.judge(chosen, on, table, demands)
    able = suitability.chances(on, table, demands)
    beside = races.entrants_beside(chosen, parameters, on, [table])
    needs = suitability.fields_needed(chosen, on)
    return {
        "cluster": cluster if cluster == "generate" else int(cluster),
        "warnings": suitability.warnings(chosen, found),
        "own_horizon": chosen.horizon_for(on, jobs) if not on.horizon_slots and len(jobs) <= MAX_ASKED else None,
        "fit": {
            "jobs": found.jobs,
            "runnable": found.runnable,
            "made": suitability.made_fields(table, needs),
            "schedulers": {name: chance.runnable for name, chance in able.items()},
            "reasons": {name: chance.reason for name, chance in able.items() if chance.reason},
            "race": {entrant.scheduler.name: entrant.reason for entrant in beside if entrant.reason},
            "earlier": {
                name: {"runs": spent.runs, "least_s": spent.least_s, "most_s": spent.most_s}
                for name, spent in earlier.of_size(found.jobs, len(on.servers)).items()
            },
        },
    }


def _cluster(cluster: str, user: Any) -> Cluster:
    if cluster == "generate":
        return generate("oasis", num_jobs=0, num_servers=GENERATED_SERVERS, seed=0, horizon_slots=100)[0]
    return store.cluster_of(one(ClusterSpec.objects.only("id"), user, pk=int(cluster)).pk)


def _newest_that_fits(
    clusters: QuerySet[ClusterSpec], scheduler: BaseScheduler, table: JobTable, demands: Demands
) -> int | None:
    """Newest cluster on which all jobs can run, or else the newest one on which they fit."""
    fits = None
    for number in clusters.order_by("-id").values_list("id", flat=True)[:MAX_TRIED]:
        try:
            found = suitability.judge(scheduler, store.cluster_of(number), table, demands)
        except ModelError:  # of a cluster that the scheduler cannot use
            continue
        if found.fine:
            return number
        if fits is None and not found.unfit.jobs:
            fits = number
    return fits
