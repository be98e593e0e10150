"""Recorded answers of the API against the OpenAPI description."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
from drf_spectacular.generators import SchemaGenerator

FILE = Path(__file__).parents[1] / "fixtures" / "page_answers.json.gz"
OBJECTS = {"/api/schedulers/", "/api/edits/", "/api/alert-rules/kinds/", "/api/runs/{id}/forks/"}  # declared as such


def test_recorded_answers_are_as_described():
    schema = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    patterns = [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in schema["paths"]]
    patterns.sort(key=lambda pair: pair[1].count("{"))
    wrong: dict[str, str] = {}
    checked: set[str] = set()
    for address, answer in json.loads(gzip.decompress(FILE.read_bytes()))["answers"].items():
        if answer.get("status") != 200:
            continue
        path = next(path for pattern, path in patterns if pattern.fullmatch(address.partition("?")[0]))
        checked.add(path)
        for error in _errors(schema, path, answer["body"]):
            wrong.setdefault(path, f"{list(error.path)}: {error.message[:200]}")
    assert {path: text for path, text in wrong.items() if path not in OBJECTS} == {}
    assert wrong.keys() >= OBJECTS, "what is right now is taken off the list"
    assert len(checked) > 20


def _errors(schema: dict[str, Any], path: str, body: Any) -> Any:
    found = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**found, "components": schema["components"]}).iter_errors(body)
