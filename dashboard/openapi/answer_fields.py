"""Fields of serializers that hold JSON, with the schema of their content in answers."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.openapi.answers.notation import one_of, schema
from twin.models.run_modes import MODES


@extend_schema_field(schema("Metrics"))
class MetricsField(serializers.JSONField):
    """Metrics of a run."""


@extend_schema_field(schema("DecisionTimes"))
class DecisionTimesField(serializers.JSONField):
    """Times that the decisions of a run took."""


@extend_schema_field(schema("TraceScan"))
class ScanField(serializers.JSONField):
    """Result of the scan of a trace."""


@extend_schema_field(schema("TraceReport"))
class ReportField(serializers.JSONField):
    """Report of the import of a trace."""


@extend_schema_field(schema(["JobLine"]))
class JobsField(serializers.JSONField):
    """First jobs of a trace."""


@extend_schema_field(schema("ClusterFile"))
class SpecField(serializers.JSONField):
    """Content of cluster.json."""


@extend_schema_field(schema(["ClusterNode"]))
class NodesField(serializers.ListField):
    """Nodes of a cluster with their sites."""


@extend_schema_field(schema(["ActingLevel"]))
class LevelsField(serializers.ListField):
    """Levels of acting."""


@extend_schema_field(schema("Actor"))
class ActorField(serializers.DictField):
    """State of the acting process."""


@extend_schema_field(schema(one_of(*MODES)))
class ModeField(serializers.ChoiceField):
    """Mode of a run; the mode of a mirrored run cannot be chosen."""
