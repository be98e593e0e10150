"""jobs.csv: jobs.jsonl as a table, in whole units.

A column that no job has is left out; an empty cell is a part that is absent.

Columns: the keys of jobs.jsonl, with `worker.gpu`, `ps.cpu`, `utility.priority` and the like for parts of parts;
`upload_ms` holds numbers and `provenance` pairs such as `epochs=drawn`, both separated by blanks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import numpy as np

from scheduling.model.values import RESOURCES
from twin.files.job_table import DEMANDS, INTEGERS, MISSING, REALS, TEXTS, JobTable
from twin.files.outputs import cell

UTILITY = ("priority", "sensitivity", "target_slots")
BATCH = 10_000  # jobs that are text at a time


def columns_of(tables: Iterable[JobTable]) -> list[str]:
    """The columns that any of the tables needs, in the order of jobs.jsonl."""
    present: set[str] = set()
    for table in tables:
        for name in table.columns:
            present |= {f"{name}.{part}" for part in RESOURCES} if name in DEMANDS else {name}
        present |= set(table.texts)
        if table.utility is not None:
            present |= {f"utility.{part}" for part in UTILITY}
        if table.uploads is not None:
            present.add("upload_ms")
        if table.provenance is not None:
            present.add("provenance")
    return ["id", *(name for name in ALL if name in present)]


ALL = (
    "arrival_ms", *TEXTS, *(name for name in INTEGERS if name != "arrival_ms"), *REALS,
    *(f"{role}.{part}" for role in DEMANDS for part in RESOURCES), *(f"utility.{part}" for part in UTILITY),
    "upload_ms", "provenance",
)  # fmt: skip


def csv_lines(tables: Iterable[JobTable], names: list[str]) -> Iterator[str]:
    """The content of jobs.csv in parts."""
    yield ",".join(names) + "\n"
    for table in tables:
        for first in range(0, len(table), BATCH):
            batch = table.take(slice(first, first + BATCH))
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(zip(*(_texts(batch, name) for name in names), strict=True))
            yield out.getvalue()


def _texts(table: JobTable, name: str) -> list[str]:
    """Column as cells."""
    if name == "id":
        return [cell(text) for text in table.ids.tolist()]
    role, _, part = name.partition(".")
    if role == "utility":
        values = table.utility[:, UTILITY.index(part)].tolist() if table.utility is not None else []
        return _reals(values, len(table))
    if part:
        values = table.columns[role][:, RESOURCES.index(part)].tolist() if role in table.columns else []
        return [_whole(value) for value in values] or [""] * len(table)
    if name in table.texts:
        text = table.texts[name]
        return ["" if code == MISSING else cell(text.words[code]) for code in text.codes.tolist()]
    if name == "provenance" and table.provenance is not None:
        words = [" ".join(f"{field}={origin}" for field, origin in word.items()) for word in table.provenance.words]
        return ["" if code == MISSING else words[code] for code in table.provenance.codes.tolist()]
    if name == "upload_ms" and table.uploads is not None:
        begins, delays = table.uploads
        return [
            " ".join(map(str, delays[a:b].tolist()))
            for a, b in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
        ]
    if name not in table.columns:
        return [""] * len(table)
    values = table.columns[name].tolist()
    return (
        ["" if value == MISSING else str(value) for value in values] if name in INTEGERS else _reals(values, len(table))
    )


def _reals(values: list[float], count: int) -> list[str]:
    return ["" if value != value else repr(value) for value in values] or [""] * count


def _whole(thousandths: int) -> str:
    """Thousandths as whole units, without a rounding."""
    if thousandths < 0:
        return ""
    whole, rest = divmod(thousandths, 1000)
    return f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)


def to_thousandths(values: np.ndarray) -> np.ndarray:
    """Whole units as thousandths; MISSING where there are more than three decimals, NaN, or a number out of reach."""
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = values * 1000
        near = np.rint(scaled)
        good = (values >= 0) & (values < 1e9) & (np.abs(scaled - near) <= np.clip(1e-9 * scaled, 1e-9, 0.01))
    return np.where(good, near, MISSING).astype(np.int64)
