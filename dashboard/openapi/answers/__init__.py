"""Schemas of the answers that no serializer makes, as components of the OpenAPI description."""

from __future__ import annotations

from dashboard.openapi.answers import (
    comparison,
    declarations,
    experiments,
    inputs,
    live,
    rows,
    run_parts,
    runs,
    scenarios,
)
from dashboard.openapi.answers.notation import Schema, schema

PARTS = (declarations, runs, run_parts, comparison, scenarios, inputs, live, experiments, rows)
COMPONENTS: dict[str, Schema] = {name: schema(shape) for part in PARTS for name, shape in part.SHAPES.items()}


def answer(name: str) -> Schema:
    """Reference to a component, for the responses of a view."""
    if name not in COMPONENTS:
        raise KeyError(f"no answer is described under the name {name!r}; known: {', '.join(COMPONENTS)}")
    return schema(name)
