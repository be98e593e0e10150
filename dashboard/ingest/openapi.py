"""OpenAPI schemas of the bodies of ingest, made from the structures that read them."""

from __future__ import annotations

from typing import Any

import msgspec

from twin.push.snapshots import Begin, End, Part
from twin.push.vocabulary import EVENT_TYPES, MAX_TEXT, schemas

REF = "#/components/schemas/{name}"
TEXT = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT}
STEPS, STEP_COMPONENTS = msgspec.json.schema_components([Begin, Part, End], ref_template=REF)
DATA, DATA_COMPONENTS = schemas(REF)

EVENT: dict[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "title": name,
            "description": kind.about,
            "required": ["specversion", "id", "source", "type", "subject", "time"],
            "properties": {
                "specversion": {"const": "1.0"},
                "id": TEXT,
                "source": TEXT,
                "type": {"const": name},
                "subject": TEXT | {"description": "Name of the job or node"},
                "time": {"type": "string", "format": "date-time"},
                "sequence": {"type": ["integer", "string"], "description": "Order within one millisecond"},
                "data": DATA[name],
            },
        }
        for name, kind in EVENT_TYPES.items()
    ]
}
COMPONENTS = STEP_COMPONENTS | DATA_COMPONENTS | {"PushedEvent": EVENT}
_event = {"$ref": REF.format(name="PushedEvent")}
EVENTS = {
    "application/cloudevents-batch+json": {"type": "array", "items": _event, "maxItems": 1_000},
    "application/cloudevents+json": _event,
    "application/json": {
        "description": "CloudEvents, Ray's exported events, or documents of Slurm's jobcomp/elasticsearch"
    },
}
SNAPSHOT = {"application/json": {"oneOf": list(STEPS)}}


def add_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Hook of drf-spectacular: the schemas that the bodies refer to."""
    result.setdefault("components", {}).setdefault("schemas", {}).update(COMPONENTS)
    return result
