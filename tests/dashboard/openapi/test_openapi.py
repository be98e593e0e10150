"""The OpenAPI description: every parameter and body is named and typed, and the API keeps to it without a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from tests.dashboard.openapi.openapi_operations import operations

METHODS = ("post", "put", "patch")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def objects(schema: dict[str, Any], node: Any, path: str, seen: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects of a body, also those that it refers to."""
    if isinstance(node, list):
        for i, one in enumerate(node):
            yield from objects(schema, one, f"{path}[{i}]", seen)
    elif isinstance(node, dict) and not node.get("readOnly"):
        reference = node.get("$ref", "")
        if reference and reference not in seen:
            seen.add(reference)
            name = reference.rpartition("/")[2]
            yield from objects(schema, schema["components"]["schemas"][name], name, seen)
        if node.get("type") == "object":
            yield path, node
        for name, one in node.items():
            yield from objects(schema, one, f"{path}.{name}", seen)


def test_it_is_made_without_a_warning():
    GENERATOR_STATS.reset()
    SchemaGenerator().get_schema(request=None, public=True)
    assert list(GENERATOR_STATS._error_cache) == []
    assert list(GENERATOR_STATS._warn_cache) == []


def test_every_parameter_of_an_address_has_a_type_and_a_description(schema):
    bare = [
        (where, parameter["name"])
        for where, operation in operations(schema)
        for parameter in operation.get("parameters", ())
        if not (parameter["schema"].get("type") and parameter.get("description"))
    ]
    assert bare == []
    for where, operation in operations(schema):
        given = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
        assert given == {part.rstrip("}") for part in where.split("{")[1:] for part in [part.partition("}")[0]]}, where


def test_every_operation_has_a_description_of_its_own(schema):
    found: dict[str, set[str]] = {}
    for where, operation in operations(schema):
        assert "summary" not in operation, where
        found.setdefault(operation["description"], set()).add(where.partition("/jobs.")[0])
    assert {text: places for text, places in found.items() if len(places) > 1} == {}


def test_no_description_of_a_parameter_is_made_by_the_framework(schema):
    texts = {one["description"] for _, operation in operations(schema) for one in operation.get("parameters", ())}
    assert [text for text in texts if "A unique integer" in text or "paginated" in text] == []


def test_every_answer_and_every_named_list_of_values_has_a_description(schema):
    answers = [
        (where, one["description"]) for where, found in operations(schema) for one in found["responses"].values()
    ]
    assert len(answers) > 300
    assert [where for where, text in answers if not text] == []
    named = {name: one.get("description", "") for name, one in schema["components"]["schemas"].items() if "enum" in one}
    assert len(named) > 8
    assert [name for name, text in named.items() if not text or text.startswith("* ")] == []


def test_no_body_has_an_object_without_a_description_of_its_content(schema):
    bare, count = [], 0
    for where, operation in operations(schema):
        for path, found in objects(schema, operation.get("requestBody", {}), where, set()):
            count += 1
            free = found.get("additionalProperties")
            if "properties" not in found and not (isinstance(free, dict) and free):
                bare.append(path)
    assert bare == []
    assert count > 100


def test_every_body_has_a_description_of_some_type(schema):
    for where, operation in operations(schema):
        for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
            assert body["schema"], (where, media_type)
