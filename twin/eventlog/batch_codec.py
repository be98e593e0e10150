"""The one encoding of events, from the log to the browser: a batch is stored, published and repaired as the same bytes.

A batch is ``columns.pack(meta, columns)`` with compact columns (twin/infra/columns.py). meta: ``{"type": "frame",
"first": seq, "last": seq, "sim_ms": ms of the last event, "events": [[at_ms, kind, data], ...]}``; seq counts on from
`first`. The content of `plan_changed` is in the columns of three tables, in the order of the events, and its data is
``[scope, rows of jobs, rows of bars, rows of keys]``; the keys of plans of jobs are not stored: they are the jobs. The
samples of `sampled` are in a fourth table, and its data is ``[use, rows of samples]``.
static/js/core/columns/frames.js reads the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from scheduling.kernel.plan_scopes import scope_of
from scheduling.model.bars import STORED_NAMES, Placement
from scheduling.model.values import Event
from twin.eventlog.samples import SAMPLE_FIELDS
from twin.infra import gc_control
from twin.infra.columns import header_text, pack, unpack, unpack_column, unpack_meta

TABLES = {
    "jobs": ("job", "start_ms", "finish_ms"),
    "bars": STORED_NAMES,
    "keys": ("role", "server", "worker"),
    "samples": ("server", *SAMPLE_FIELDS),
}
Line = tuple[int, int, str, Any]  # seq, at_ms, kind, data
LINE_SEQ: Final = 0  # columns of a line
LINE_AT: Final = 1


class BarRows(NamedTuple):
    """Rows of the bars of a plan in the matrix of its batch."""

    first: int
    length: int

    def of(self, bars: Any) -> Any:
        """These rows of the matrix, or of a list of its rows."""
        return bars[self.first : self.first + self.length]


class UnreadableLog(ValueError):
    """Error: the log has something that this version cannot read."""


class OldLog(UnreadableLog):
    """Error: the batch was written by an earlier version."""


@contextmanager
def log_of(run_id: int) -> Iterator[None]:
    """Block that reads the log of a run: its UnreadableLog names the run."""
    try:
        yield
    except UnreadableLog as error:
        raise type(error)(f"run {run_id}: {error}") from error


def encode(events: Sequence[Event]) -> bytes:
    """Consecutive events, at least one, as bytes."""
    lines: list[Any] = []
    rows: dict[str, list[Any]] = {name: [] for name in TABLES}
    for event in events:
        data: Any = event.data
        if event.kind == "plan_changed":
            of_jobs = not scope_of(data).of_workers
            rows["jobs"].append(data["jobs"])
            rows["bars"].append(data["bars"])
            rows["keys"].append(() if of_jobs else data["keys"])
            data = [data["scope"], len(data["jobs"]), len(data["bars"]), 0 if of_jobs else len(data["keys"])]
        elif event.kind == "sampled":
            rows["samples"].append(data["rows"])
            data = [data["use"], len(data["rows"])]
        lines.append((event.at_ms, event.kind, data))
    columns: dict[str, np.ndarray] = {}
    for name, fields in TABLES.items():
        table = _matrix(rows[name], len(fields))
        if len(table):
            columns |= {f"{name}_{field}": table[:, i] for i, field in enumerate(fields)}
    first, last = events[0], events[-1]
    meta = {"type": "frame", "first": first.seq, "last": last.seq, "sim_ms": last.at_ms, "events": lines}
    return pack(meta, columns, compact=True)


def decode(payload: bytes | memoryview) -> list[Event]:
    """The inverse of `encode`."""
    with gc_control.paused():
        lines, bars = read(payload)
        placements = list(map(Placement._make, bars.tolist()))
        for _, _, kind, data in lines:
            if kind == "plan_changed":
                data["bars"] = data["bars"].of(bars if scope_of(data).of_workers else placements)
            elif kind == "sampled":
                data["rows"] = data["rows"].tolist()
        return list(map(Event._make, lines))


def joined(payloads: Sequence[bytes]) -> list[bytes]:
    """The same events in fewer batches: one, unless numbers are missing in between; a batch alone stays as it is."""
    if len(payloads) < 2:
        return list(payloads)
    runs: list[list[tuple[Any, dict[str, np.ndarray]]]] = []
    for payload in payloads:
        batch = unpack(payload)
        if runs and batch[0]["first"] == runs[-1][-1][0]["last"] + 1:
            runs[-1].append(batch)
        else:
            runs.append([batch])
    return list(map(_one, runs))


def _one(batches: Sequence[tuple[Any, dict[str, np.ndarray]]]) -> bytes:
    """One batch of consecutive ones; the same bytes as `encode` of all their events."""
    metas = [meta for meta, _ in batches]
    lines = list(chain.from_iterable(meta["events"] for meta in metas))
    names = [f"{name}_{field}" for name, fields in TABLES.items() for field in fields]
    parts = {name: [columns[name] for _, columns in batches if name in columns] for name in names}
    columns = {name: np.concatenate(some) for name, some in parts.items() if some}
    last = metas[-1]
    meta = {"type": "frame", "first": metas[0]["first"], "last": last["last"], "sim_ms": last["sim_ms"]}
    return pack({**meta, "events": lines}, columns, compact=True)


def read(payload: bytes | memoryview) -> tuple[list[Line], np.ndarray]:
    """The events as lines, and the matrix [bar, 9] of bars: data["bars"] of a plan is its BarRows.

    data["rows"] of samples is a matrix.
    """
    meta, columns = unpack(payload)
    _check(meta)
    bars = _table(columns, "bars")
    jobs, keys = _table(columns, "jobs").tolist(), _table(columns, "keys").tolist()
    samples = _table(columns, "samples")
    lines: list[Line] = []
    job, bar, key, sample = 0, 0, 0, 0
    for seq, (at_ms, kind, data) in enumerate(meta["events"], start=meta["first"]):
        if kind == "plan_changed":
            scope, of_jobs, of_bars, of_keys = data
            moved = jobs[job : job + of_jobs]
            named = keys[key : key + of_keys] if scope_of({"scope": scope}).of_workers else [job for job, *_ in moved]
            data = {"scope": scope, "keys": named, "jobs": moved, "bars": BarRows(bar, of_bars)}
            job, bar, key = job + of_jobs, bar + of_bars, key + of_keys
        elif kind == "sampled":
            use, count = data
            data = {"use": use, "rows": samples[sample : sample + count]}
            sample += count
        lines.append((seq, at_ms, kind, data))
    return lines, bars


def read_kinds(payload: bytes | memoryview, kinds: Collection[str]) -> list[Line]:
    """Events of some kinds, not of plans and samples: no column is read."""
    meta = unpack_meta(payload)
    _check(meta)
    return [
        (seq, at_ms, kind, data)
        for seq, (at_ms, kind, data) in enumerate(meta["events"], start=meta["first"])
        if kind in kinds
    ]


def may_hold(payload: bytes | memoryview, words: Iterable[str], job: int | None) -> bool:
    """True if a batch may have an event with all these words (kinds, codes) and about the job (index; None for any).

    False is certain. It reads no event, for searches through whole logs.
    """
    text = header_text(payload)
    if not all(orjson.dumps(word) in text for word in words):
        return False
    if job is None or b'"job":%d' % job in text:
        return True
    planned = unpack_column(payload, "jobs_job")
    return planned is not None and bool((planned == job).any())


def _check(meta: Any) -> None:
    if not isinstance(meta, dict):
        found = f"a batch begins with a {type(meta).__name__} instead of a dict"
        raise OldLog(f"the event log is of an older version; run `python manage.py migrate` to convert it ({found})")


def _table(columns: dict[str, np.ndarray], name: str) -> np.ndarray:
    fields = TABLES[name]
    if f"{name}_{fields[0]}" not in columns:
        return np.empty((0, len(fields)), dtype=np.int64)
    return np.stack([columns[f"{name}_{field}"] for field in fields], axis=1)


def _matrix(parts: Sequence[Any], width: int) -> np.ndarray:
    """int64 [row, width] of parts that are lists of rows, or matrices."""
    if np.ndarray in set(map(type, parts)):
        return np.concatenate([np.asarray(part, dtype=np.int64).reshape(-1, width) for part in parts])
    flat: Iterable[int] = chain.from_iterable(chain.from_iterable(parts))
    return np.fromiter(flat, dtype=np.int64).reshape(-1, width)
