"""Serializers of the API."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import Max
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.auth.visible import VisibleRelated
from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import NumberField
from dashboard.openapi.answer_fields import (
    DecisionTimesField,
    JobsField,
    MetricsField,
    ModeField,
    ReportField,
    ScanField,
    SpecField,
)
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import EditField, MappingField, ParametersField
from scheduling.kernel.registry import parse_parameters, scheduler_class
from scheduling.model.values import ModelError
from twin.analysis.changed_jobs import job_count
from twin.models import ClusterSpec, MirrorRecord, Run, Scenario, Trace
from twin.processes import vitals
from twin.runs import scheduler_history
from twin.runs.activity import activity
from twin.runs.clock import MAX_SPEED
from twin.scenarios import scheduler_titles
from twin.scenarios.edits import MAX_EDITS
from twin.traces.importers import Choice, Reading, formats, title_of
from twin.traces.uploads.openfile import MAX_FILES

MAX_ID = 2**63 - 1
MAX_EARLIER = 5  # imports of the same files that are named


class TeamField(serializers.CharField):
    """Name of the team of an object; null for everybody."""

    def __init__(self, source: str = "team.name") -> None:
        super().__init__(source=source, read_only=True, default=None, allow_null=True)


class TraceSerializer(serializers.ModelSerializer):
    """A trace with the state of its import."""

    created_by = serializers.CharField(source="created_by.username", read_only=True, default=None, allow_null=True)
    files = serializers.SerializerMethodField()
    format_title = serializers.SerializerMethodField()
    team = TeamField()

    class Meta:
        model = Trace
        fields: tuple[str, ...] = ("id", "name", "format", "format_title", "status", "stage", "message", "progress",
                  "checksum", "files", "seed", "options", "job_count", "server_count", "team", "created_by",
                  "created_at")  # fmt: skip
        read_only_fields = fields

    @extend_schema_field({"type": "array", "items": answer("TraceFile")})
    def get_files(self, trace: Trace) -> list[dict[str, Any]]:
        """Names of the files and the bytes received of each."""
        return [{"name": file["name"], "size": file["size"], "received": file["received"]} for file in trace.files]

    def get_format_title(self, trace: Trace) -> str:
        """Title of the format; "" while it is not recognized."""
        return title_of(trace.format)


class TraceDetailSerializer(TraceSerializer):
    """Trace with the result of the scan, the report, the first jobs, and earlier imports of the same files."""

    earlier = serializers.SerializerMethodField()
    scan = ScanField(read_only=True)
    report = ReportField(read_only=True)
    preview = JobsField(read_only=True)

    class Meta(TraceSerializer.Meta):
        fields = (*TraceSerializer.Meta.fields, "scan", "report", "preview", "earlier")
        read_only_fields = fields

    @extend_schema_field({"type": "array", "items": answer("EarlierTrace")})
    def get_earlier(self, trace: Trace) -> list[dict[str, Any]]:
        """[{id, name, job_count}], the newest first."""
        same = (
            Trace.objects.filter(checksum=trace.checksum, status=Trace.READY, team=trace.team_id).exclude(pk=trace.pk)
            if trace.checksum
            else Trace.objects.none()
        )
        return [dict(row) for row in same.order_by("-id").values("id", "name", "job_count")[:MAX_EARLIER]]


class ChoiceSerializer(KnownFields):
    """Selection of jobs, and options for reading a trace."""

    name = serializers.CharField(max_length=200, required=False)
    format = serializers.CharField(max_length=200, default="auto")
    seed = serializers.IntegerField(default=0, min_value=0, max_value=MAX_ID)
    slot_ms = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    mapping = MappingField(required=False)
    time_unit = serializers.CharField(max_length=20, required=False)
    time_zone = serializers.CharField(max_length=100, required=False)
    cpu_jobs = serializers.CharField(max_length=20, required=False)
    groups = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=10_000)
    from_ms = serializers.IntegerField(required=False, min_value=0, max_value=MAX_ID)
    to_ms = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    sample = serializers.IntegerField(required=False, min_value=1, max_value=10_000_000)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=10_000_000)
    rate = NumberField(required=False, min_value=1e-6, max_value=1e6)

    def validate_mapping(self, value: Any) -> dict[str, str]:
        """{field: column}"""
        whole = isinstance(value, dict) and all(isinstance(v, str) and len(v) <= 200 for v in value.values())
        if not whole or len(value) > 100:
            raise serializers.ValidationError(
                f"a mapping must be an object of at most 100 fields and their columns, got {str(value)[:80]!r}"
            )
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check by the importer's rules before anything is queued."""
        if attrs["format"] != "auto" and attrs["format"] not in formats():
            raise ModelError(f"unknown format {attrs['format']!r}; known: auto, {', '.join(formats())}")
        try:
            Choice.of(attrs)
            Reading.of(attrs)
        except ValueError as refusal:
            raise ModelError(str(refusal)) from refusal
        return attrs

    def options(self) -> dict[str, Any]:
        """Options stored with the trace."""
        return {
            name: value
            for name, value in self.validated_data.items()
            if name not in ("name", "format", "seed", "stage", "files")
        }


class UploadSerializer(ChoiceSerializer):
    """Upload in one request; several files, all in the field `file`, make one trace."""

    file = serializers.ListField(child=serializers.FileField(), min_length=1, max_length=MAX_FILES)
    stage = choice_field((Trace.SCAN, Trace.IMPORT), default=Trace.IMPORT)

    def options(self) -> dict[str, Any]:
        return {name: value for name, value in super().options().items() if name != "file"}


class AnnouncedFileSerializer(KnownFields):
    """File of an upload in parts."""

    name = serializers.CharField(max_length=200)
    size = serializers.IntegerField(
        min_value=1, error_messages={"min_value": "the file is empty: its size must be at least 1 byte"}
    )


class AnnouncedSerializer(ChoiceSerializer):
    """Upload in parts: PUT /api/traces/<id>/files/<n>/?offset=<bytes>."""

    files = serializers.ListField(child=AnnouncedFileSerializer(), min_length=1, max_length=MAX_FILES)
    stage = choice_field((Trace.SCAN, Trace.IMPORT), default=Trace.SCAN)


class ClusterSerializer(serializers.ModelSerializer):
    """A cluster."""

    slot_ms = serializers.IntegerField(source="spec.slot_ms", read_only=True)
    horizon_slots = serializers.IntegerField(source="spec.horizon_slots", read_only=True, allow_null=True)
    gpus = serializers.SerializerMethodField()
    team = TeamField()

    class Meta:
        model = ClusterSpec
        fields: tuple[str, ...] = (
            "id",
            "name",
            "source",
            "trace",
            "server_count",
            "gpus",
            "slot_ms",
            "horizon_slots",
            "team",
            "created_at",
        )
        read_only_fields = fields

    def get_gpus(self, cluster: ClusterSpec) -> float:
        """Total number of GPUs of the cluster."""
        return float(sum(server["capacity"].get("gpu", 0) for server in cluster.spec["servers"]))


class ClusterDetailSerializer(ClusterSerializer):
    """Cluster with the content of cluster.json."""

    spec = SpecField(read_only=True)

    class Meta(ClusterSerializer.Meta):
        fields = (*ClusterSerializer.Meta.fields, "spec")
        read_only_fields = fields


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
        if attrs["trace"].status != Trace.READY:
            raise serializers.ValidationError(
                {"trace": f"trace {attrs['trace'].name} is {attrs['trace'].status}, not ready"}
            )
        if not attrs["trace"].job_count:
            raise serializers.ValidationError({"trace": f"trace {attrs['trace'].name} has machines but no jobs"})
        return attrs


class RaceSerializer(KnownFields):
    """Schedulers of a race; by default all that can run the scenario."""

    schedulers = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, min_length=2, max_length=24
    )


class RunSerializer(KnownFields, serializers.ModelSerializer):
    """A run."""

    serializer_related_field = VisibleRelated
    scenario_name = serializers.CharField(source="scenario.name", read_only=True)
    scheduler = serializers.SerializerMethodField()
    schedulers = serializers.SerializerMethodField()
    trace_name = serializers.CharField(source="scenario.trace.name", read_only=True)
    job_count = serializers.SerializerMethodField()
    speed = NumberField(write_only=True, required=False, min_value=1e-6, max_value=MAX_SPEED)
    mode = choice_field((Run.BATCH, Run.LIVE), ModeField, default=Run.BATCH)
    activity = serializers.SerializerMethodField()
    metrics = MetricsField(read_only=True)
    decision_ms = DecisionTimesField(read_only=True)
    team = TeamField("scenario.team.name")

    @extend_schema_field(
        {
            "type": ["object", "null"],
            "required": ["state", "seconds", "text"],
            "properties": {"state": {"type": "string"}, "seconds": {"type": "number"}, "text": {"type": "string"}},
        }
    )
    def get_activity(self, run: Run) -> dict[str, Any] | None:
        """Reason why a run makes no progress; null for a run that does."""
        if run.status not in Run.ACTIVE:
            return None
        if "vitals" not in self.context:
            self.context["vitals"] = vitals.take()
        return activity(run, self.context["vitals"])

    class Meta:
        model = Run
        fields = ("id", "scenario", "scenario_name", "scheduler", "schedulers", "trace_name", "job_count", "mode",
                  "speed", "status", "wanted", "message", "activity", "last_seq", "sim_ms", "end_ms", "clock_speed",
                  "parent", "fork_ms", "metrics", "decision_ms", "team", "created_at", "started_at",
                  "finished_at")  # fmt: skip
        read_only_fields = ("status", "wanted", "message", "last_seq", "sim_ms", "end_ms", "clock_speed", "parent",
                            "fork_ms", "metrics", "decision_ms", "created_at", "started_at", "finished_at")  # fmt: skip
        extra_kwargs: ClassVar = {
            "sim_ms": {"help_text": "Time of the newest event; the situation states the time of the clock"},
        }

    def get_job_count(self, run: Run) -> int:
        """Number of jobs: of the trace after the edits, or of the log if the run mirrors a real cluster."""
        if run.mode != Run.MIRROR:
            return job_count(run)
        return MirrorRecord.objects.filter(run=run, kind=MirrorRecord.JOB).count()

    def get_scheduler(self, run: Run) -> str:
        """Scheduler at the time that the run has reached."""
        return scheduler_history.present(run).name

    @extend_schema_field({"type": "array", "items": answer("SchedulerFrom")})
    def get_schedulers(self, run: Run) -> list[dict[str, Any]]:
        """[{from_ms, name, title}]: the first one, and those set by edits."""
        return [one._asdict() for one in scheduler_history.of_run(run)]


class StartRunSerializer(serializers.Serializer[Any]):
    """Request for a run: the fields of a run that can be set."""

    scenario = serializers.IntegerField()
    mode = choice_field((Run.BATCH, Run.LIVE), default=Run.BATCH)
    speed = NumberField(required=False, min_value=1e-6, max_value=MAX_SPEED)


class SpeedSerializer(KnownFields):
    """Speed of a live run: ms of simulated time per ms."""

    speed = NumberField(min_value=1e-6, max_value=MAX_SPEED)
