"""Operations of the OpenAPI description, for the tests of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """("METHOD PATH", operation) of each one."""
    for path, found in schema["paths"].items():
        for method, operation in found.items():
            yield f"{method} {path}", operation
