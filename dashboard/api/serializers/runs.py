"""Runs, and requests for their start and speed."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.api.serializers.team import TeamField
from dashboard.auth.visible import VisibleRelated
from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import NumberField
from dashboard.openapi.answer_fields import DecisionTimesField, MetricsField, ModeField
from dashboard.openapi.answers import answer
from twin.analysis.changed_jobs import job_count
from twin.models import Run
from twin.models.run_modes import modes_where
from twin.processes import vitals
from twin.runs import scheduler_history
from twin.runs.activity import activity
from twin.runs.clock import MAX_SPEED


class RunSerializer(KnownFields, serializers.ModelSerializer):
    """A run."""

    serializer_related_field = VisibleRelated
    scenario_name = serializers.CharField(source="scenario.name", read_only=True)
    scheduler = serializers.SerializerMethodField()
    schedulers = serializers.SerializerMethodField()
    trace_name = serializers.CharField(source="scenario.trace.name", read_only=True)
    job_count = serializers.SerializerMethodField()
    speed = NumberField(write_only=True, required=False, min_value=1e-6, max_value=MAX_SPEED)
    mode = choice_field(modes_where(simulated=True), ModeField, default=Run.BATCH)
    activity = serializers.SerializerMethodField()
    metrics = MetricsField(read_only=True)
    decision_ms = DecisionTimesField(read_only=True)
    began_at = serializers.DateTimeField(
        read_only=True,
        allow_null=True,
        help_text="Moment from which the times of a live cluster and of its cuts are counted; null for other runs",
    )
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
                  "parent", "fork_ms", "metrics", "decision_ms", "team", "began_at", "created_at", "started_at",
                  "finished_at")  # fmt: skip
        read_only_fields = ("status", "wanted", "message", "last_seq", "sim_ms", "end_ms", "clock_speed", "parent",
                            "fork_ms", "metrics", "decision_ms", "created_at", "started_at", "finished_at")  # fmt: skip
        extra_kwargs: ClassVar = {
            "sim_ms": {"help_text": "Time of the newest event; the answer of situation/ has the time of the clock"},
        }

    def get_job_count(self, run: Run) -> int:
        """Number of jobs: of the trace after the edits, or of the log if the run mirrors a real cluster."""
        return job_count(run)

    def get_scheduler(self, run: Run) -> str:
        """Scheduler at the time that the run has reached."""
        return scheduler_history.current(run).name

    @extend_schema_field({"type": "array", "items": answer("SchedulerFrom")})
    def get_schedulers(self, run: Run) -> list[dict[str, Any]]:
        """[{from_ms, name, title}]: the first one, and those set by edits."""
        return [one._asdict() for one in scheduler_history.of_run(run)]


class StartRunSerializer(serializers.Serializer[Any]):
    """Request for a run: the fields of a run that can be set."""

    scenario = serializers.IntegerField()
    mode = choice_field(modes_where(simulated=True), default=Run.BATCH)
    speed = NumberField(required=False, min_value=1e-6, max_value=MAX_SPEED)


class SpeedSerializer(KnownFields):
    """Speed of a live run: ms of simulated time per ms."""

    speed = NumberField(min_value=1e-6, max_value=MAX_SPEED)
