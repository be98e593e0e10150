"""Short notation of JSON schemas: a dict is an object with exactly these properties, a list with one entry an array.

A property whose name ends with ? may be absent. A string is the name of a component. The files of answers are written
in this notation.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
Shape = Any  # a dict, a list, the name of a component, or one of the classes below


class Plain:
    """Schema that is stated as it is."""

    def __init__(self, **stated: Any) -> None:
        self.stated = stated


INTEGER, NUMBER, STRING, BOOLEAN = (Plain(type=name) for name in ("integer", "number", "string", "boolean"))
NULL = Plain(type="null")
MOMENT = Plain(type="string", format="date-time")
ANY = Plain(description="Any JSON value")


def one_of(*values: str) -> Plain:
    """One of these strings."""
    return Plain(type="string", enum=list(values))


def mapping(shape: Shape) -> Plain:
    """Object whose keys are data."""
    return Plain(type="object", additionalProperties=schema(shape))


def either(*shapes: Shape) -> Plain:
    """Any of these shapes."""
    return Plain(anyOf=[schema(shape) for shape in shapes])


def nullable(shape: Shape) -> Plain:
    """The shape, or null."""
    return either(shape, NULL)


def noted(shape: Shape, about: str) -> Plain:
    """The shape with a description."""
    return Plain(**(schema(shape) | {"description": about}))


def extended(shape: dict[str, Shape], **more: Shape) -> dict[str, Shape]:
    """The object with more properties."""
    return shape | more


def schema(shape: Shape) -> Schema:
    """The JSON schema of a shape."""
    if isinstance(shape, Plain):
        return shape.stated
    if isinstance(shape, str):
        return {"$ref": f"#/components/schemas/{shape}"}
    if isinstance(shape, list):
        (item,) = shape
        return {"type": "array", "items": schema(item)}
    return {
        "type": "object",
        "properties": {name.rstrip("?"): schema(one) for name, one in shape.items()},
        "required": [name for name in shape if not name.endswith("?")],
        "additionalProperties": False,
    }
