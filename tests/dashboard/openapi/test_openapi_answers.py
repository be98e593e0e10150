"""Recorded answers of the API against the OpenAPI description."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from drf_spectacular.generators import SchemaGenerator

from dashboard.openapi.answers import COMPONENTS, answer
from dashboard.openapi.answers.notation import INTEGER, NUMBER, STRING, mapping, nullable, schema

FILE = Path(__file__).parents[2] / "fixtures" / "page_answers.json.gz"

OPEN = {  # properties of any content: parameters and values that other answers declare, and rows of the audit
    "AlertRule.parameters", "Alert.values", "Audit.detail", "Connection.parameters",
    "Connection.sampler_parameters", "Connection.sites", "MadeToken.scopes", "Proposal.parameters",
    "Token.scopes", "Trace.options", "TraceDetail.options",
}  # fmt: skip


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    return schema


def test_recorded_answers_are_as_described(described):
    patterns = [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in described["paths"]]
    patterns.sort(key=lambda pair: pair[1].count("{"))
    wrong: dict[str, str] = {}
    checked: set[str] = set()
    for address, given in json.loads(gzip.decompress(FILE.read_bytes()))["answers"].items():
        if given.get("status") != 200:
            continue
        path = next(path for pattern, path in patterns if pattern.fullmatch(address.partition("?")[0]))
        checked.add(path)
        for error in _errors(described, path, given["body"]):
            wrong.setdefault(path, f"{list(error.path)}: {error.message[:200]}")
    assert wrong == {}
    assert len(checked) > 20


def test_no_answer_is_an_object_without_a_description_of_its_content(described):
    assert [name for name, schema in _answers(described) if _is_bare(schema)] == []


def test_these_properties_of_serializers_have_any_content(described):
    """What is described now is taken off the list; a new property is described."""
    found = {
        f"{name}.{key}"
        for name in _components(described)
        for key, schema in described["components"]["schemas"][name].get("properties", {}).items()
        if name not in COMPONENTS and _is_open(schema)
    }
    assert found == OPEN


def test_every_component_of_an_answer_is_used(described):
    text = json.dumps(described)
    assert [name for name in COMPONENTS if f'schemas/{name}"' not in text] == []
    with pytest.raises(KeyError, match="under the name 'Nothing'"):
        answer("Nothing")


def test_an_object_of_an_answer_has_exactly_its_properties():
    one = schema({"a": INTEGER, "b?": nullable(STRING), "c": mapping([NUMBER])})
    good = ({"a": 1, "c": {}}, {"a": 1, "b": None, "c": {"x": [1.5]}})
    bad = ({"a": 1}, {"a": 1.5, "c": {}}, {"a": 1, "c": {}, "d": 1}, {"a": 1, "b": 2, "c": {}}, {"a": 1, "c": {"x": 1}})
    valid = jsonschema.Draft202012Validator(one).is_valid
    assert [valid(value) for value in good + bad] == [True, True, False, False, False, False, False]


def _answers(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(method, path and status, schema) of each answer in JSON."""
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                found = response.get("content", {}).get("application/json")
                if found is not None:
                    yield f"{method.upper()} {path} {status}", found["schema"]


def _is_bare(schema: dict[str, Any]) -> bool:
    if schema.get("type") == "array":
        return _is_bare(schema["items"])
    return not schema or (schema.get("type") == "object" and not schema.keys() & {"properties", "oneOf", "anyOf"})


def _components(described: dict[str, Any]) -> set[str]:
    """Names of all components that answers refer to, also through others."""
    found: set[str] = set()
    waiting = [schema for _, schema in _answers(described)]
    while waiting:
        for name in set(re.findall(r"#/components/schemas/(\w+)", json.dumps(waiting.pop()))) - found:
            found.add(name)
            waiting.append(described["components"]["schemas"][name])
    return found


def _is_open(schema: dict[str, Any]) -> bool:
    """Whether a property holds anything, or objects of anything."""
    if schema.get("type") == "array":
        return _is_open(schema["items"])
    stated = {key: value for key, value in schema.items() if key not in ("readOnly", "description", "title")}
    return not stated or stated in ({"type": "object"}, {"type": "object", "additionalProperties": {}})


def _errors(schema: dict[str, Any], path: str, body: Any) -> Any:
    found = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**found, "components": schema["components"]}).iter_errors(body)
