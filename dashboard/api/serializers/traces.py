"""Traces: the state of an import, and its result."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.api.serializers.team import TeamField
from dashboard.openapi.answer_fields import JobsField, ReportField, ScanField
from dashboard.openapi.answers import answer
from twin.models import Trace
from twin.traces.import_state import stalled
from twin.traces.importers import title_of

MAX_EARLIER = 5  # imports of the same files that are named


class TraceSerializer(serializers.ModelSerializer):
    """A trace with the state of its import."""

    created_by = serializers.CharField(source="created_by.username", read_only=True, default=None, allow_null=True)
    files = serializers.SerializerMethodField()
    format_title = serializers.SerializerMethodField()
    stalled = serializers.SerializerMethodField()
    team = TeamField()

    class Meta:
        model = Trace
        fields: tuple[str, ...] = ("id", "name", "format", "format_title", "status", "stage", "message", "progress",
                  "stalled", "checksum", "files", "seed", "options", "job_count", "server_count", "team", "created_by",
                  "created_at")  # fmt: skip
        read_only_fields = fields

    @extend_schema_field({"type": "array", "items": answer("TraceFile")})
    def get_files(self, trace: Trace) -> list[dict[str, Any]]:
        """Names of the files and the bytes received of each."""
        return [{"name": file["name"], "size": file["size"], "received": file["received"]} for file in trace.files]

    def get_format_title(self, trace: Trace) -> str:
        """Title of the format; "" while it is not recognized."""
        return title_of(trace.format)

    def get_stalled(self, trace: Trace) -> str:
        """Text about an import that makes no progress; "" for any other."""
        return stalled(trace)


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
