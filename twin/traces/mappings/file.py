"""File of a column mapping, as the import page saves it: `{"columns": [...], "mapping": {field: column}}`."""

from __future__ import annotations

from typing import Any

import orjson

from twin.traces.importing.drafts import ImportRefused

MAX_BYTES = 64 * 1024  # bytes


def loads(data: bytes, name: str) -> dict[str, str]:
    """The mapping of a file; ImportRefused names what is wrong."""
    try:
        found: Any = orjson.loads(data[:MAX_BYTES])
    except orjson.JSONDecodeError as error:
        raise ImportRefused(f"{name}: not a file of a column mapping: {error}") from error
    mapping = found.get("mapping") if isinstance(found, dict) else None
    if not isinstance(mapping, dict) or not all(isinstance(column, str) for column in mapping.values()):
        raise ImportRefused(f'{name}: a file of a column mapping has the form {{"mapping": {{"arrival": "COLUMN"}}}}')
    return mapping
