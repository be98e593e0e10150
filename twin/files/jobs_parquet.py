"""jobs.parquet: the table of jobs.csv with typed columns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from twin.files.job_table import INTEGERS, REALS, JobTable
from twin.files.jobs_csv import csv_lines

PIECE_BYTES = 256 * 1024
LIMITS: dict[str, Any] = {
    "threads": 1, "memory_limit": "512MB", "autoinstall_known_extensions": False, "autoload_known_extensions": False
}  # fmt: skip
WHOLE, REAL, THOUSANDTHS, TEXT = "BIGINT", "DOUBLE", "DECIMAL(18,3)", "VARCHAR"


def parquet_pieces(tables: Iterable[JobTable], names: list[str]) -> Iterator[bytes]:
    """The file with these columns in pieces, made on disk first, from the text of jobs.csv: memory has a bound."""
    import duckdb  # takes a quarter of a second

    with (
        tempfile.TemporaryDirectory(prefix="twin-parquet-") as folder,
        duckdb.connect(config=LIMITS | {"temp_directory": folder}) as database,
    ):
        text, made = Path(folder, "jobs.csv"), Path(folder, "jobs.parquet")
        with text.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(tables, names))
        table = database.read_csv(
            str(text), header=True, sep=",", quotechar='"', escapechar='"', dtype={name: _type(name) for name in names}
        )
        table.write_parquet(str(made), compression="zstd")
        text.unlink()
        with made.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece


def _type(name: str) -> str:
    """Type of a column. Amounts of resources are decimals, as exact as in jobs.csv."""
    if name in INTEGERS:
        return WHOLE
    if name in REALS or name.startswith("utility."):
        return REAL
    return THOUSANDTHS if "." in name else TEXT
