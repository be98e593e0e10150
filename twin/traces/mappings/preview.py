"""First rows of a file under a column mapping, before the whole file is read."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from twin.moments import date_time
from twin.traces.importers.mapped_csv import Rows, checked, running
from twin.traces.importing.drafts import ImportRefused, ReadOptions, Skipped, Source
from twin.traces.importing.fields import DATETIME
from twin.traces.importing.reading import Reading
from twin.traces.uploads.tables import Table

ROWS = 10


def preview(name: str, lines: Sequence[str], mapping: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """{rows: [{line, arrival, run_ms, workers, gpus, reason, value}], running, problem} of the first lines."""
    data = "\n".join(lines[: ROWS + 1]).encode()
    source = Source(name, io.BytesIO(data), len(data))
    try:
        columns, settings = checked(mapping, [source])
        skipped = Skipped()
        table = Table(source, sorted(set(columns.values())), skipped, ReadOptions(mapping=mapping, reading=reading))
        with np.errstate(all="ignore"):  # values beyond every measure
            found = [
                row
                for portion in table.portions()
                for row in _rows(Rows(portion, columns, settings, 0, {}), skipped, settings)
            ]
    except ImportRefused as refusal:
        return {"rows": [], "running": "", "problem": str(refusal)}
    seen = {row["line"] for row in found}
    lost = [_blank(row) for row in skipped.listed if row["line"] not in seen]
    return {"rows": sorted(found + lost, key=lambda row: row["line"]), "running": running(columns), "problem": ""}


def _rows(rows: Rows, skipped: Skipped, settings: Mapping[str, str]) -> list[dict[str, Any]]:
    rows.good(set(), skipped)
    faults = {row["line"]: row for row in skipped.listed}
    known = rows.arrival[~np.isnan(rows.arrival)]
    zero = float(known.min()) if len(known) else 0.0
    gpus = rows.amounts.get("gpus", np.full(len(rows.arrival), np.nan))
    made = []
    for at, line in enumerate(rows.portion.lines.tolist()):
        fault = faults.get(line, {"reason": "", "value": ""})
        made.append({
            "line": line, "arrival": _arrival(rows.arrival[at], zero, settings), "run_ms": _whole(rows.ran[at]),
            "workers": _whole(rows.workers[at]), "gpus": None if np.isnan(gpus[at]) else float(gpus[at]),
            "reason": fault["reason"], "value": fault["value"],
        })  # fmt: skip
    return made


def _blank(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"line": row["line"], "arrival": None, "run_ms": None, "workers": None, "gpus": None,
            "reason": row["reason"], "value": row["value"]}  # fmt: skip


def _arrival(ms: float, zero: float, settings: Mapping[str, str]) -> str | int | None:
    """A date, or ms after the first of these rows."""
    if not abs(ms) < 2**53:
        return None
    if settings["arrival_unit"] != DATETIME:
        return round(ms - zero)
    try:
        return date_time(ms)
    except (OverflowError, ValueError, OSError):
        return None


def _whole(value: float) -> int | None:
    return round(value) if abs(value) < 2**53 else None
