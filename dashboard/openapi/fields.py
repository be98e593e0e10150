"""Fields of request bodies that hold objects, with the schema of their content."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

VALUE: dict[str, Any] = {
    "oneOf": [
        {"type": "null"},
        {"type": "boolean"},
        {"type": "number"},
        {"type": "string"},
        {"type": "array", "items": {"type": ["boolean", "number", "string"]}},
    ]
}


def _map(about: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": VALUE, "description": about}


@extend_schema_field(
    _map("Values by name of the parameter; names are in the lists of schedulers, connectors and rules")
)
class ParametersField(serializers.DictField):
    """Parameters that an answer of the API declares: of a scheduler, a connector, a sampler, a rule."""


@extend_schema_field(
    {
        "type": "object",
        "properties": {
            "edge_by": {"type": "string", "enum": ["queue", "name", "label"]},
            "edge_pattern": {"type": "string", "description": "Regular expression; empty: no node is at the edge"},
        },
        "description": "Rule that puts each node on a site (docs/following.md)",
    }
)
class SitesField(serializers.DictField):
    """Rule of the sites of a connection."""


@extend_schema_field(_map("Fields of a line of jobs.jsonl that differ (docs/formats.md)"))
class JobChangesField(serializers.DictField):
    """Fields of a job."""


@extend_schema_field({"$ref": "#/components/schemas/Edit"})
class EditField(serializers.DictField):
    """An edit of a scenario; its verb determines its fields (GET /api/edits/)."""


@extend_schema_field({"$ref": "#/components/schemas/Axis"})
class AxisField(serializers.DictField):
    """An axis of a sweep (docs/api.md)."""


@extend_schema_field(_map("Column of each field, as the answer of the address mapping/ lists them (docs/traces.md)"))
class MappingField(serializers.JSONField):
    """Mapping of columns to fields."""
