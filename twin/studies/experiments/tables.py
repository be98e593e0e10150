"""Stored form of an experiment's table."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from experiments import Figure, Table


def stored(table: Table) -> str:
    """JSON, also with infinite values and those that are none."""
    return json.dumps(asdict(table))


def read(text: str) -> Table:
    """Inverse of `stored`."""
    plain: dict[str, Any] = json.loads(text)
    spread = tuple(tuple(None if cell is None else (cell[0], cell[1]) for cell in row) for row in plain["spread"])
    return Table(
        tuple(plain["columns"]), tuple(map(tuple, plain["rows"])), tuple(Figure(**check) for check in plain["checks"]),
        spread,
    )  # fmt: skip
