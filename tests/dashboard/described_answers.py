"""Check of answers of the API against its OpenAPI description: status, media type and JSON."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import jsonschema
from drf_spectacular.generators import SchemaGenerator

from dashboard.http.error_page import wants_page

CHECKED = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@cache
def description() -> dict[str, Any]:
    """The description as JSON."""
    found: dict[str, Any] = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    return found


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of addresses, those without parameters first."""
    paths = sorted(description()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in paths]


def operation_of(method: str, address: str) -> str | None:
    """ "METHOD PATH" as described; None for an address or a method that is not."""
    for pattern, path in _patterns():
        if pattern.fullmatch(address) and method.lower() in description()["paths"][path]:
            return f"{method} {path}"
    return None


def fault(method: str, address: str, answer: Any) -> str | None:
    """Why an answer is not as described; None for one that is."""
    operation = operation_of(method, address)
    if operation is None or answer.status_code >= 500:
        return None
    responses = description()["paths"][operation.partition(" ")[2]][method.lower()]["responses"]
    described = responses.get(str(answer.status_code)) or (
        responses.get("default") if answer.status_code > 399 else None
    )
    if described is None:
        return f"{operation}: status {answer.status_code} is not described"
    content = described.get("content", {})
    if not content:
        return f"{operation}: {answer.status_code} has content" if answer.content else None
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if kind == "text/html" and answer.status_code > 399 and wants_page(answer.wsgi_request):
        return None  # the answer of every operation to a browser that follows a link
    if kind not in content:
        return f"{operation}: {answer.status_code} is {kind or 'empty'}, described as {', '.join(content)}"
    if kind != "application/json" or answer.streaming or answer.headers.get("Content-Encoding"):
        return None
    error = next(_validator(operation, str(answer.status_code), kind).iter_errors(json.loads(answer.content)), None)
    return None if error is None else f"{operation} {answer.status_code}: {list(error.path)}: {error.message[:300]}"


@cache
def _validator(operation: str, status: str, kind: str) -> jsonschema.Draft202012Validator:
    method, _, path = operation.partition(" ")
    responses = description()["paths"][path][method.lower()]["responses"]
    schema = responses.get(status, responses.get("default"))["content"][kind]["schema"]
    return jsonschema.Draft202012Validator({**schema, "components": description()["components"]})


def forget() -> None:
    """The description is made again, where a test changes what it is made of."""
    description.cache_clear()
    _validator.cache_clear()
