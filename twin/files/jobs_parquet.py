"""jobs.parquet: the table of jobs.csv with typed columns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from scheduling.model.values import ModelError
from twin.files.job_table import INTEGERS, REALS, JobTable
from twin.files.jobs_csv import csv_lines
from twin.infra.duckdb_settings import SETTINGS

PART_BYTES = 256 * 1024
WHOLE, REAL, THOUSANDTHS, TEXT = "BIGINT", "DOUBLE", "DECIMAL(18,3)", "VARCHAR"


def parquet_pieces(tables: Iterable[JobTable], names: list[str]) -> Iterator[bytes]:
    """The file with these columns in parts; ModelError at once where DuckDB is not installed."""
    if find_spec("duckdb") is None:
        raise ModelError("jobs.parquet needs the package duckdb; install it or choose jobs.csv")
    return _pieces(tables, names)


def _pieces(tables: Iterable[JobTable], names: list[str]) -> Iterator[bytes]:
    """The parts of a file that is made on disk from the text of jobs.csv, so that memory has a bound."""
    import duckdb  # takes a quarter of a second

    with (
        tempfile.TemporaryDirectory(prefix="twin-parquet-") as folder,
        duckdb.connect(config=SETTINGS | {"temp_directory": folder}) as database,
    ):
        text, parquet = Path(folder, "jobs.csv"), Path(folder, "jobs.parquet")
        with text.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(tables, names))
        types = {name: _type(name) for name in names}
        table = database.read_csv(str(text), header=True, sep=",", quotechar='"', escapechar='"', dtype=types)
        table.write_parquet(str(parquet), compression="zstd")
        text.unlink()
        with parquet.open("rb") as file:
            while part := file.read(PART_BYTES):
                yield part


def _type(name: str) -> str:
    """Type of a column. Amounts of resources are decimals, as exact as in jobs.csv."""
    if name in INTEGERS:
        return WHOLE
    if name in REALS or name.startswith("utility."):
        return REAL
    return THOUSANDTHS if "." in name else TEXT
