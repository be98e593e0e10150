"""Requests for uploads of traces, in one request or in parts, with the selection of their jobs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import MAX_ID, NumberField
from dashboard.openapi.fields import MappingField
from scheduling.model.values import ModelError
from twin.models import Trace
from twin.traces.importers import Choice, Reading
from twin.traces.importing.formats import MENU
from twin.traces.uploads.openfile import MAX_FILES


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
        if attrs["format"] != "auto":
            MENU.named(attrs["format"], others=("auto",))
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
