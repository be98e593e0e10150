"""A table of an experiment as lines of text."""

from __future__ import annotations

import math

from experiments import Table
from scheduling.reporting.figure import plain

MAX_COLUMNS = 8  # beyond, a column of the table is a line


def lines(table: Table) -> list[str]:
    """The table as text; wide ones are transposed."""
    cells = [list(map(_cell, table.columns)), *[list(map(_cell, row)) for row in table.rows]]
    if len(table.columns) > MAX_COLUMNS:
        cells = [list(column) for column in zip(*cells, strict=True)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join([head.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]) for head, *rest in cells]


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return "not run" if math.isnan(value) else plain(value)
