"""Encoding of a folded state as bytes, so that a long log need not be folded again.

The layout is that of columns.pack: tables as compact columns, everything else in the header.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduling.model.bars import JOB
from twin.eventlog.fold import BAR_FIELDS, DECIDED_FIELDS, JOB_FIELDS, PLANNED_FIELDS, Growing, RunState, workers_of
from twin.eventlog.samples import SAMPLE_FIELDS, USE_FIELDS
from twin.infra import gc_control
from twin.infra.columns import pack, unpack

VERSION = 10  # raised with each change of what is folded or of this layout: states of another version are not read
TABLES = {
    "jobs": JOB_FIELDS,
    "firsts": ("event", "bars"),
    "bars": BAR_FIELDS,
    "decided": DECIDED_FIELDS,
    "planned": PLANNED_FIELDS,
    "samples": SAMPLE_FIELDS,
    "use": USE_FIELDS,
}
REAL = "utility"  # all other fields are integers
PLAIN = ("last_seq", "sim_ms", "finished", "restated", "started", "groups", "regroupings", "edits", "gaps",
         "reservations", "default_prices", "earlier_prices")  # fmt: skip
BY_KEY = ("prices", "grouped", "suspensions", "requeues")  # mappings
UNDECIDED = -1


def encode(state: RunState) -> bytes:
    """The whole state."""
    meta = {name: getattr(state, name) for name in PLAIN}
    meta |= {name: list(getattr(state, name).items()) for name in BY_KEY}
    columns: dict[str, np.ndarray] = {}
    for name, fields in TABLES.items():
        rows = getattr(state, name).rows
        columns |= {f"{name}_{field}": _stored(rows[:, i], field) for i, field in enumerate(fields)}
    for scope, of_jobs in (("jobs", True), ("workers", False)):
        rows = [row for key, of_key in state.alive.items() if isinstance(key, int) == of_jobs for row in of_key]
        columns[f"alive_{scope}"] = np.array(rows, dtype=np.int64)
    words: dict[tuple[str, ...], int] = {}
    codes = [UNDECIDED if each is None else words.setdefault(tuple(each), len(words)) for each in state.verdicts]
    columns["verdicts"] = np.array(codes, dtype=np.int64)
    return pack(meta | {"verdicts": list(words)}, columns, compact=True)


def decode(payload: bytes | memoryview) -> RunState:
    """The inverse of `encode`: a state that can be continued."""
    with gc_control.paused():
        meta, columns = unpack(payload)
        state = RunState()
        for name in PLAIN:
            setattr(state, name, meta[name])
        state.edits = [(at_ms, sentences) for at_ms, sentences in meta["edits"]]
        state.earlier_prices = [(slot, columns) for slot, columns in meta["earlier_prices"]]
        for name in BY_KEY:
            setattr(state, name, dict(meta[name]))
        for name, fields in TABLES.items():
            _fill(getattr(state, name), [columns[f"{name}_{field}"] for field in fields])
        words = meta["verdicts"]
        state.verdicts = [None if code == UNDECIDED else list(words[code]) for code in columns["verdicts"].tolist()]
        _alive(state, columns)
    return state


def _stored(column: np.ndarray, field: str) -> np.ndarray:
    return column if field == REAL else column.astype(np.int64)


def _fill(table: Growing, columns: list[np.ndarray]) -> None:
    table.data = np.empty((len(columns[0]), len(columns)), dtype=table.data.dtype)
    table.length = len(table.data)
    for i, column in enumerate(columns):
        table.data[:, i] = column


def _alive(state: RunState, columns: dict[str, np.ndarray]) -> None:
    """Rows of bars by job or worker, restored: the keys follow from the bars."""
    bars = state.bars.rows
    of_jobs, of_workers = columns["alive_jobs"], columns["alive_workers"]
    keys: list[Any] = [*bars[of_jobs, JOB].tolist(), *workers_of(bars[of_workers])]
    for key, row in zip(keys, [*of_jobs.tolist(), *of_workers.tolist()], strict=True):
        state.alive.setdefault(key, []).append(row)
