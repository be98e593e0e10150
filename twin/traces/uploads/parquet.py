"""Parquet files as CSV text, so that every format and a column mapping can read their columns.

Times become ISO dates, durations `2 days 03:04:05`, lists and objects JSON; empty values empty cells.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from twin.infra.duckdb_settings import SETTINGS
from twin.traces.importing.drafts import ImportRefused

MAGIC = b"PAR1"
ROWS = 10_000  # of a block
PLAIN = (str, int, float)


def as_csv(path: Path, filename: str) -> Iterator[bytes]:
    """Blocks of CSV text with a header."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise ImportRefused(f"{filename}: Parquet needs the package duckdb; install it or export CSV") from error
    with duckdb.connect(config=SETTINGS) as database:
        try:
            found = database.execute("SELECT * FROM read_parquet(?)", [str(path)])
            yield _lines([[name for name, *_ in found.description]])
            while rows := found.fetchmany(ROWS):
                yield _lines(rows)
        except duckdb.Error as error:
            said = str(error).partition("\n\nLINE ")[0]  # without the query of this module, which follows some errors
            reason = " ".join(said.replace(str(path), filename).split())
            raise ImportRefused(f"{filename}: the Parquet file cannot be read: {reason[:200]}") from error


def _lines(rows: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    """A value as a cell of one line."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return " ".join(value.split()) if not value.isprintable() else value
    if value is None or isinstance(value, PLAIN):
        return "" if value is None else value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        seconds = value.seconds + value.microseconds / 1e6
        hours, minutes = divmod(value.seconds // 60, 60)
        return f"{value.days} days {hours:02d}:{minutes:02d}:{seconds % 60:09.6f}"
    if isinstance(value, list | dict | tuple):
        return orjson.dumps(value, default=str).decode()
    return str(value)
