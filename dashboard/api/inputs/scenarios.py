"""Scenarios: cluster, trace, scheduler, seed and edits of runs."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from dashboard.api.audit import AuditedDelete, record
from dashboard.api.inputs.run_form import SuitabilitySerializer, checked_form
from dashboard.api.serializers.scenarios import RaceSerializer, ScenarioSerializer
from dashboard.auth.visible import OfTeams
from dashboard.http.body import body
from dashboard.openapi.answers import answer
from scheduling.kernel.registry import build, obstacle, unavailable
from twin.analysis.situation.past import loads_at
from twin.files.cluster_json import cluster_from_dict
from twin.models import ClusterSpec, Scenario
from twin.scenarios import listed, store
from twin.studies import races


@extend_schema_view(
    list=extend_schema(description="Scenarios, newest first."),
    create=extend_schema(
        description="Creates a scenario; another slot length or horizon creates a copy of the cluster."
    ),
    retrieve=extend_schema(description="One scenario with its edits."),
    destroy=extend_schema(description="Deletes a scenario without runs and sweeps."),
)
class ScenarioViewSet(
    OfTeams,
    AuditedDelete,
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Scenario],
):
    """Scenarios; another slot length or horizon creates a copy of the cluster."""

    queryset = Scenario.objects.select_related("cluster", "trace", "team").defer("trace__jobs")
    serializer_class = ScenarioSerializer
    noun = "scenario"

    def filter_queryset(self, queryset: QuerySet[Scenario]) -> QuerySet[Scenario]:
        found = super().filter_queryset(queryset)
        if self.action == "list":
            return listed.scenarios(found)
        return found if self.action == "retrieve" else found.filter(unlisted=False)

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        given = serializer.validated_data
        changed = {name: given.pop(name) for name in ("slot_ms", "horizon_slots") if name in given}
        changed = {name: value for name, value in changed.items() if value is not None}
        cluster = given["cluster"]
        spec = {**cluster.spec, **changed}
        build(given["scheduler"], given["parameters"]).check(cluster_from_dict(spec))
        with transaction.atomic():
            if spec != cluster.spec:
                given["cluster"] = _with(cluster, changed, spec)
            scenario = serializer.save(created_by=self.request.user)
            store.check(scenario, scenario.edits)  # an impossible edit fails here, before anything is stored
            store.check_effects(scenario, scenario.edits)
            record(self.request.user, "scenario.create", scenario)

    @extend_schema(parameters=[SuitabilitySerializer], responses={200: answer("Suitability")})
    @action(detail=False)
    def suitability(self, request: Request) -> Response:
        """Warnings about jobs that the scheduler would reject on the cluster. Without `cluster`, the newest one that
        fits all jobs (or null) is chosen."""
        form = SuitabilitySerializer(data=request.query_params)
        form.is_valid(raise_exception=True)
        return Response(checked_form(request.user, **form.validated_data))

    @extend_schema(responses={200: answer("ServerLoads")})
    @action(detail=True)
    def loads(self, request: Request, pk: str) -> Response:
        """Load of the servers of the parent run at the time of the fork; {} without a parent."""
        scenario = self.get_object()
        return Response(loads_at(scenario.parent, scenario.fork_ms) if scenario.parent else {})

    @extend_schema(operation_id="scenarios_race_entrants", request=None, responses={200: answer("RaceEntrants")})
    @action(detail=True)
    def race(self, request: Request, pk: str) -> Response:
        """Schedulers that can run this scenario, and reasons for the others."""
        return Response(_entrants(self.get_object()))

    @extend_schema(operation_id="scenarios_race", request=RaceSerializer, responses={201: answer("RaceStarted")})
    @race.mapping.post
    def start_race(self, request: Request, pk: str) -> Response:
        """Starts one scenario and one batch run per scheduler."""
        given = body(RaceSerializer, request)
        scenario = self.get_object()
        with transaction.atomic():
            runs = races.race(scenario, given.get("schedulers"), request.user)
            record(request.user, "scenario.race", scenario)
        rows = [{"id": run.pk, "scenario": run.scenario_id, "scheduler": run.scenario.scheduler} for run in runs]
        compare = f"/compare/?runs={','.join(str(run.pk) for run in runs)}&race={scenario.pk}"
        return Response({**_entrants(scenario), "runs": rows, "compare": compare}, status=status.HTTP_201_CREATED)


def _entrants(scenario: Scenario) -> dict[str, Any]:
    """Race as {scenario, name, able: [{scheduler, title}], left_out: [{scheduler, title, reason, model}]}"""
    able, left_out = [], []
    for entrant in races.entrants(scenario):
        row = {"scheduler": entrant.scheduler.name, "title": entrant.scheduler.title}
        if entrant.reason:
            left_out.append(row | {"reason": entrant.reason, "model": entrant.model})
        else:
            able.append(row)
    reasons = dict(unavailable())
    if why := obstacle(scenario.scheduler):
        reasons.setdefault(scenario.scheduler, why)  # its file was removed
    missing = [{"scheduler": name, "title": name, "reason": why, "model": ""} for name, why in reasons.items()]
    return {"scenario": scenario.pk, "name": scenario.name, "able": able, "left_out": left_out + missing}


def _with(cluster: ClusterSpec, changed: dict[str, int], spec: dict[str, Any]) -> ClusterSpec:
    """Cluster with the same servers and another slot length or horizon, which its name states; reused if it exists."""
    texts = {
        "slot_ms": lambda ms: f"slots of {ms / 60_000:.10g} min",
        "horizon_slots": lambda slots: f"{slots:,} slots",
    }
    parts = [texts[name](value) for name, value in changed.items() if value != cluster.spec.get(name)]
    shown = ", ".join(parts)
    # names have neither spaces nor commas
    own = "".join(f"_{part.replace(' ', '-').replace(',', '')}" for part in parts)
    name = f"{cluster.name[: 200 - len(own)]}{own}"
    spec = spec | {"name": name}
    source = f"{cluster.source or cluster.name} with {shown}"[:200]
    alike = ClusterSpec.objects.filter(name=name, source=source, team=cluster.team_id)
    known = next((one for one in alike if one.spec == spec), None)  # the source may be cut off
    return known or ClusterSpec.objects.create(
        name=name,
        source=source,
        trace=cluster.trace,
        spec=spec,
        server_count=cluster.server_count,
        team_id=cluster.team_id,
    )
