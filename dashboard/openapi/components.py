"""Hook of drf-spectacular: schemas that fields refer to, and descriptions of parameters that have none."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from dashboard.openapi.answers import COMPONENTS, answer
from dashboard.openapi.fields import VALUE
from twin.scenarios.edits import verbs

TYPES = {"int": "integer", "float": "number", "bool": "boolean", "str": "string"}
PARAMETERS = {  # name -> (type, description)
    "id": ("integer", "Number, as in the list"),
    "trace_id": ("integer", "Number of the trace"),
    "number": ("integer", "Position of the file in the list of files of the trace, from 0"),
    "index": ("integer", "Index of the job in the run, from 0"),
    "server": ("integer", "Index of the server in the run, from 0"),
    "group": ("integer", "Number of the group in the run"),
    "name": ("string", "Name, as in the list"),
    "source": ("string", "Name of the source, as in the scope of its token"),
    "page": ("integer", "Page, from 1"),
    "size": ("integer", "Rows per page"),
    "after": ("integer", "Sequence number of the event after which the answer begins"),
    "before": ("integer", "Sequence number of the event before which the answer ends"),
    "limit": ("integer", "Largest number of events in the answer"),
    "code": ("string", "Code of a reason"),
    "decision": ("string", "Kind of a decision"),
    "kind": ("string", "Kind of an event"),
    "job": ("integer", "Index of a job in the run, from 0"),
    "until_ms": ("integer", "Last simulated time, in ms"),
    "at_ms": ("integer", "Simulated time, in ms; by default, and for a later one, the newest"),
    "at": ("integer", "Simulated time, in ms"),
    "from_ms": ("integer", "Start of the window, in simulated ms; by default that of the run"),
    "to_ms": ("integer", "End of the window, in simulated ms; by default that of the run"),
    "columns": ("integer", "Largest number of intervals of the window"),
    "from": ("integer", "First simulated time, in ms"),
    "to": ("integer", "Last simulated time, in ms"),
    "q": ("string", "Part of a name"),
    "sort": ("string", "Column to sort by; a leading - gives descending order"),
    "state": ("string", "State of a job"),
    "scheduler": ("string", "Name of a scheduler"),
    "slot_ms": ("integer", "Length of a slot, in ms"),
    "trace": ("integer", "Number of a trace"),
}
ENUMS = {  # component -> description of its values
    "DirectionEnum": "Which of two values is better",
    "MoveKindEnum": "Object that is moved to another team",
    "ProfileEnum": "Paper whose job types and sizes are sampled",
    "ProposeKindEnum": "What the plan sets: nice values for the order of waiting jobs, or begin times and nodes",
    "RoleEnum": "Role of the account; each may do all that the ones before it may",
    "RunModeEnum": "Pace of the run: as fast as possible, with the clock, or with the real cluster that it mirrors",
    "StageEnum": "What is done once the last byte is received: the files are read for a choice, or imported at once",
    "StartRunModeEnum": "Pace of the run: as fast as possible, or with the clock",
    "VariantEnum": "Parameters of the paper as printed (literal), or adjusted to its figures (calibrated)",
}

ERROR = {  # any status without an answer of its own
    "description": "Error, in one sentence",
    "content": {"application/json": {"schema": answer("Refusal")}},
}


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """The schema with the components, the answers of errors, and a description of all that has none."""
    schemas = result["components"]["schemas"]
    schemas |= {"Edit": _edit(), "Axis": _axis(), **COMPONENTS}
    for name, about in ENUMS.items():
        schemas[name]["description"] = about
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"].setdefault("default", ERROR)
            for status, given in operation["responses"].items():
                given["description"] = given.get("description") or HTTPStatus(int(status)).phrase
            for parameter in operation.get("parameters", ()):
                kind, about = PARAMETERS.get(parameter["name"], ("string", ""))
                if parameter["in"] == "path":
                    parameter["schema"] = {"type": kind} | ({"minimum": 0} if kind == "integer" else {})
                    parameter["description"] = about or parameter["description"]  # in place of one made from the model
                elif about:
                    parameter.setdefault("description", about)
    return result


def _edit() -> dict[str, Any]:
    """One schema for each verb, made from the declarations of its parameters."""
    return {
        "oneOf": [
            {
                "type": "object",
                "title": verb.name,
                "description": verb.about,
                "required": ["verb"],
                "properties": {
                    "verb": {"const": verb.name},
                    "at_ms": {"type": "integer", "minimum": 0, "description": "Time from which the edit applies"},
                    "off": {"type": "boolean", "description": "Whether the edit is switched off"},
                    **{row["name"]: VALUE | {"description": row["help"]} for row in verb.form()},
                },
            }
            for verb in verbs().values()
        ]
    }


def _axis() -> dict[str, Any]:
    values = {"type": "array", "items": {"type": ["boolean", "number", "string"]}, "minItems": 1}
    return {
        "oneOf": [
            {
                "type": "object",
                "required": ["parameter", "values"],
                "properties": {"parameter": {"type": "string"}, "values": values},
            },
            {
                "type": "object",
                "required": ["edit", "field", "values"],
                "properties": {
                    "edit": {"type": "integer", "minimum": 1, "description": "Position of the edit, from 1"},
                    "field": {"type": "string"},
                    "values": values,
                },
            },
        ]
    }
