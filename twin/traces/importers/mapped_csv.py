"""Any CSV with a header and a column mapping: {field: column}, and units for its times.

Without `run` a job runs from its `start`, or its arrival where no start is named, to its `end`.

Fields: `arrival` and one of `run` and `end` are needed. `gpus` are those of the whole job: with `workers`, each has its
share; without, a worker has one GPU. `cpus` and `memory_gb` are of one worker. `status`: a row is skipped when its job
never ran (pending, running, waiting).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from twin.traces.importers.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.importers.tables import Chunk, Table, header

FORMAT = "mapped_csv"
TITLE = "CSV with mapped columns"
FIELDS = (
    "id",
    "arrival",
    "run",
    "start",
    "end",
    "workers",
    "gpus",
    "cpus",
    "memory_gb",
    "model",
    "group",
    "user",
    "status",
)
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "min": 60_000.0, "h": 3_600_000.0}
DATETIME = "datetime"  # YYYY-MM-DD HH:MM:SS or its ISO form
SETTINGS = ("arrival_unit", "run_unit")
LATEST_MS = 2**53
MAX_RUN_MS = 100 * 366 * 86_400_000  # a century
MAX_WORKERS = 100_000
NEVER_RAN = frozenset(("pending", "waiting", "queued", "running", "r", "pd", "active"))
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas


def sniff(head: bytes) -> tuple[bool, str, float]:
    """Match, never automatic: a user has to map the columns."""
    return False, "its columns must be mapped first", 0.0


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first row that is imported."""
    mapping, units = _checked(options.mapping, sources[0])
    skipped, rows, seen = Skipped(), 0, set[str]()
    parts: list[dict[str, np.ndarray]] = []
    for source in sources:
        table = Table(source, sorted(set(mapping.values())), skipped, options)
        for chunk in table.chunks():
            parts.append(_rows(chunk, mapping, units, rows, seen, skipped))
        rows += table.rows
    if not any(len(part["key"]) for part in parts):
        raise ImportRefused(f"{sources[0].name}: none of its {rows:,} rows can be imported; {skipped.first()}")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(columns["arrival"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    arrival = columns["arrival"].astype(np.int64)
    drafts = Drafts(
        keys=columns["key"], prefix="" if "id" in mapping else "r", arrival_ms=arrival - arrival[0],
        run_ms=columns["run"].astype(np.int64), workers=columns["workers"].astype(np.int64), demand=_demand(columns),
        origins={"arrival_ms": "trace",
                 "requested_workers": "trace" if {"workers", "gpus"} & mapping.keys() else "derived"},
        known={name: columns[name] for name in ("model", "group", "user") if name in columns},
    )  # fmt: skip
    pairs = ", ".join(f"{field} = {column}" for field, column in mapping.items())
    return Read(
        rows,
        skipped,
        drafts=drafts,
        notes=[
            f"Column mapping: {pairs}; times in {units['arrival']}, run times in {units['run']}.",
            _running(mapping),
        ],
    )


def _running(mapping: Mapping[str, str]) -> str:
    """Run times as a sentence."""
    if "run" in mapping:
        return f"The run time of a job is {mapping['run']}."
    if "start" in mapping:
        return f"A job runs from {mapping['start']} to {mapping['end']}."
    return (
        f"A job runs from {mapping['arrival']} to {mapping['end']}: waiting before the start counts as work. "
        "Map the column of the start if there is one."
    )


def _checked(given: Mapping[str, Any] | None, source: Source) -> tuple[dict[str, str], dict[str, str]]:
    """(mapping, units), or what is wrong with them."""
    names = header(source.head)
    if not given:
        raise ImportRefused(
            f"{source.name}: map its columns first: fields {', '.join(FIELDS)}; columns {', '.join(names)[:500]}"
        )
    unknown = [field for field in given if field not in (*FIELDS, *SETTINGS)]
    if unknown:
        raise ImportRefused(f"unknown field {unknown[0]!r} in the mapping; known: {', '.join((*FIELDS, *SETTINGS))}")
    mapping = {field: str(given[field]).strip() for field in FIELDS if given.get(field)}
    for field, column in mapping.items():
        if column not in names:
            raise ImportRefused(
                f"{source.name}: line 1: there is no column {column!r} for {field}; the "
                f"columns are {', '.join(names)[:500]}"
            )
    if "arrival" not in mapping or not {"run", "end"} & mapping.keys():
        lacking = "run or end" if "arrival" in mapping else "arrival"
        raise ImportRefused(f"{source.name}: the mapping has no column for {lacking}; it is required")
    units = {"arrival": str(given.get("arrival_unit") or "s"), "run": str(given.get("run_unit") or "s")}
    for name, unit in units.items():
        known = (*UNITS, DATETIME) if name == "arrival" else tuple(UNITS)
        if unit not in known:
            raise ImportRefused(f"{name}_unit must be one of {', '.join(known)}, got {unit!r}")
    return mapping, units


def _rows(
    chunk: Chunk, mapping: dict[str, str], units: dict[str, str], before: int, seen: set[str], skipped: Skipped
) -> dict[str, np.ndarray]:
    """The good rows of a chunk, by field."""
    count = len(chunk.lines)
    arrival = _time(chunk, mapping["arrival"], units["arrival"])
    start = arrival
    if "run" in mapping:
        ran = chunk.numbers(mapping["run"]) * UNITS[units["run"]]
    else:
        if "start" in mapping:
            start = _time(chunk, mapping["start"], units["arrival"])
        ran = _time(chunk, mapping["end"], units["arrival"]) - start
    cells = {field: chunk.columns[column] for field, column in mapping.items()}
    amounts = {
        field: chunk.numbers(mapping[field]) for field in ("workers", "gpus", "cpus", "memory_gb") if field in mapping
    }
    gpus = amounts.get("gpus")
    workers = amounts.get("workers", np.ones(count) if gpus is None else np.maximum(1, np.ceil(gpus)))
    run_from = mapping.get("run") or mapping["end"]
    reasons = [
        ("unreadable_arrival", ~((arrival > -LATEST_MS) & (arrival < LATEST_MS)), mapping["arrival"]),
        ("no_start", np.isnan(start), mapping.get("start") or mapping["arrival"]),
        ("no_end", np.isnan(ran), run_from),
        ("run_not_positive", ran < 1, run_from),
        ("run_too_long", ran > MAX_RUN_MS, run_from),
        ("unreadable_workers", ~((workers >= 1) & (workers <= MAX_WORKERS) & (workers == np.floor(workers))),
         mapping.get("workers") or mapping.get("gpus") or run_from),
    ]  # fmt: skip
    for field in ("gpus", "cpus", "memory_gb"):
        if field in amounts:
            reasons.append((f"unreadable_{field}", ~((amounts[field] >= 0) & (amounts[field] < 1e9)), mapping[field]))
    if "status" in mapping:
        idle = np.array([text.lower() in NEVER_RAN for text in cells["status"]], dtype=bool)
        reasons.insert(0, ("pending", idle, mapping["status"]))
    if "id" in mapping:
        reasons.append(
            ("unreadable_name", np.array([not NAME.fullmatch(text) for text in cells["id"]], dtype=bool), mapping["id"])
        )
        repeated = np.zeros(count, dtype=bool)
        for i, text in enumerate(cells["id"]):
            repeated[i] = text in seen
            seen.add(text)
        reasons.append(("duplicate_id", repeated, mapping["id"]))
    good = chunk.sift(skipped, reasons)
    keys = np.array(cells["id"], dtype=object) if "id" in mapping else before + chunk.lines - 1
    found = {
        "key": keys,
        "arrival": np.rint(arrival),
        "run": np.rint(ran),
        "workers": workers,
        **{f: amounts[f] for f in amounts if f != "workers"},
    }
    found |= {
        field: np.array([_plain(t) for t in cells[field]], dtype=object)
        for field in ("model", "group", "user")
        if field in cells
    }
    return {name: column[good] for name, column in found.items()}


def _time(chunk: Chunk, column: str, unit: str) -> np.ndarray:
    return chunk.instants(column) if unit == DATETIME else chunk.numbers(column) * UNITS[unit]


def _plain(text: str) -> str:
    """Text that may be a model or a group: printable and short."""
    return "".join(c for c in text if c.isprintable())[:100]


def _demand(columns: dict[str, np.ndarray]) -> np.ndarray:
    """[job, 5] thousandths of one worker."""
    demand = np.full((len(columns["key"]), 5), -1, dtype=np.int64)
    if "gpus" in columns:
        demand[:, 0] = np.rint(columns["gpus"] / columns["workers"] * 1000)
    for place, field in ((1, "cpus"), (2, "memory_gb")):
        if field in columns:
            demand[:, place] = np.rint(columns[field] * 1000)
    return demand
