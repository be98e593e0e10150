"""Column mappings of earlier imports, found again by the header of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import orjson

from twin.models import Trace


def header_key(columns: Sequence[str]) -> str:
    """Key of a header, for `scan["header"]` of traces that were imported with a mapping."""
    return sha256(orjson.dumps(list(columns))).hexdigest()


def remembered(file: Mapping[str, Any]) -> dict[str, Any]:
    """The beginning of a file, with the mapping of the last import of the same header: {mapping, trace, name}."""
    found = (
        Trace.objects.filter(status=Trace.READY, scan__header=header_key(file["columns"]))
        .order_by("-id")
        .values("id", "name", "options")
        .first()
    )
    known = (
        {"mapping": found["options"].get("mapping", {}), "trace": found["id"], "name": found["name"]} if found else None
    )
    return {**file, "remembered": known}
