"""The one encoding of events, from the log to the browser: a batch is stored, published and repaired as the same bytes.

A batch is ``columns.pack(meta, columns)`` with compact columns (twin/infra/columns.py). meta: ``{"type": "frame",
"first": seq, "last": seq, "sim_ms": ms of the last event, "events": [[at_ms, kind, data], ...]}``; seq counts on from
`first`. What `plan_changed` holds stands in the columns of three tables, one row after the other, and its data is
``[scope, rows of jobs, rows of bars, rows of keys]``; plans of jobs have no keys of their own: they are the jobs. The
samples of `sampled` stand in a fourth table, and its data is ``[use, rows of samples]``. static/js/core/frames.js reads
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import orjson

from scheduling.model.values import Event, Placement
from twin.eventlog.samples import SAMPLE_FIELDS
from twin.infra import gc_control
from twin.infra.columns import header_text, pack, unpack, unpack_column, unpack_meta

TABLES = {
    "jobs": ("job", "start_ms", "finish_ms"),
    "bars": Placement._fields,
    "keys": ("role", "server", "worker"),
    "samples": ("server", *SAMPLE_FIELDS),
}
Line = tuple[int, int, str, Any]  # seq, at_ms, kind, data


class UnreadableLog(ValueError):
    """Error: the log has something that this version cannot read."""


class OldLog(UnreadableLog):
    """Error: the batch was written by an earlier version."""


def encode(events: Sequence[Event]) -> bytes:
    """Consecutive events, at least one, as bytes."""
    lines: list[Any] = []
    rows: dict[str, list[Any]] = {name: [] for name in TABLES}
    for event in events:
        data: Any = event.data
        if event.kind == "plan_changed":
            of_jobs = data["scope"] != "worker"
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
                first, count = data["bars"]
                data["bars"] = (placements if data["scope"] != "worker" else bars)[first : first + count]
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
    """The events as lines, and the matrix [bar, 9] of bars: data["bars"] of a plan is (first row, count).

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
            named = [row[0] for row in moved] if scope != "worker" else keys[key : key + of_keys]
            data = {"scope": scope, "keys": named, "jobs": moved, "bars": (bar, of_bars)}
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
        raise OldLog("the event log was written by an older version; run `python manage.py migrate` to convert it")


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
