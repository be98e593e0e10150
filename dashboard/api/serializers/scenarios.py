"""Scenarios, and requests for races of them."""

from __future__ import annotations

from typing import Any

from django.db.models import Max
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.api.serializers.team import TeamField
from dashboard.auth.visible import VisibleRelated
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import MAX_ID
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import EditField, ParametersField
from scheduling.kernel.registry import parse_parameters, scheduler_class
from twin.models import Run, Scenario
from twin.runs import scheduler_history
from twin.scenarios import scheduler_titles
from twin.scenarios.edits import MAX_EDITS


class ScenarioSerializer(KnownFields, serializers.ModelSerializer):
    """A scenario; parameters are checked against the scheduler's own declaration."""

    serializer_related_field = VisibleRelated
    cluster_name = serializers.CharField(source="cluster.name", read_only=True)
    trace_name = serializers.CharField(source="trace.name", read_only=True)
    job_count = serializers.IntegerField(source="trace.job_count", read_only=True)
    server_count = serializers.IntegerField(source="cluster.server_count", read_only=True)
    slot_ms = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=MAX_ID, write_only=True)
    horizon_slots = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=1_000_000, write_only=True
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=MAX_ID)
    parameters = ParametersField(default=dict)
    edits = serializers.ListField(child=EditField(), default=list, max_length=MAX_EDITS)
    ends_ms = serializers.SerializerMethodField()
    schedulers = serializers.SerializerMethodField()
    parameter_texts = serializers.SerializerMethodField()
    team = TeamField()

    class Meta:
        model = Scenario
        fields = ("id", "name", "cluster", "cluster_name", "server_count", "trace", "trace_name", "job_count",
                  "scheduler", "schedulers", "parameters", "parameter_texts", "seed", "edits", "ends_ms", "version",
                  "parent", "fork_ms", "slot_ms", "horizon_slots", "team", "created_at")  # fmt: skip
        read_only_fields = ("version", "parent", "fork_ms")

    @extend_schema_field({"type": "array", "items": answer("SchedulerFrom")})
    def get_schedulers(self, scenario: Scenario) -> list[dict[str, Any]]:
        """Schedulers over time, as [{from_ms, name, title}]: the first one, and those set by edits."""
        return [one._asdict() for one in scheduler_history.in_order(scenario.scheduler, scenario.edits)]

    def get_parameter_texts(self, scenario: Scenario) -> list[str]:
        """Parameters that are set, as shown: ["Training model PD-ORS"]."""
        return scheduler_titles.parameter_texts(scenario.scheduler, scenario.parameters)

    def get_ends_ms(self, scenario: Scenario) -> int | None:
        """End of the longest run, or the horizon: length of time axes."""
        if isinstance(self.parent, serializers.ListSerializer):
            return None  # only for a single scenario
        spec = scenario.cluster.spec
        if spec.get("horizon_slots"):
            return int(spec["horizon_slots"] * spec["slot_ms"])
        found = Run.objects.filter(
            scenario__trace_id=scenario.trace_id,
            scenario__cluster_id=scenario.cluster_id,
            scenario__team=scenario.team_id,
        )
        return found.aggregate(last=Max("sim_ms"))["last"] or None

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """UnknownName and ModelError become the API's 400 with the names that would work."""
        given = {key: value for key, value in attrs.get("parameters", {}).items() if value not in ("", None)}
        parsed = parse_parameters(scheduler_class(attrs["scheduler"]), given)
        attrs["parameters"] = {key: getattr(parsed, key) for key in given}
        trace = attrs["trace"]
        if why := trace.not_ready_text or (
            "" if trace.job_count else f"trace {trace.name} has servers but no jobs; choose a trace with jobs"
        ):
            raise serializers.ValidationError({"trace": why})
        return attrs


class RaceSerializer(KnownFields):
    """Schedulers of a race; by default all that can run the scenario."""

    schedulers = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, min_length=2, max_length=24
    )
