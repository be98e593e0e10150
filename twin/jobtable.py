"""Jobs as columns: what a trace is kept as. A million jobs are some 100 MB so, and ten times that as objects.

A column that no job has is absent; a job that lacks a part has NaN, MISSING or -1 there. Stored as blocks of at most BLOCK
jobs: ``TWJ1``, then for each block its length (uint32) and a zlib-compressed columns.pack.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduling.model import Job, Utility
from twin.columns import pack, unpack

BLOCK = 50_000
PIECE = 2_000  # jobs that are Python objects at a time
MAGIC = b"TWJ1"
MISSING = -1
INTEGERS = (
    "arrival_ms", "epochs", "num_chunks", "minibatches_per_chunk", "num_samples", "global_batch", "workers_per_ps", "requested_workers",
    "iterations", "iterations_per_epoch", "cloud_upload_ms",
)  # fmt: skip
REALS = (
    "minibatch_ms", "gradient_mb", "sample_ms", "internal_gbps", "external_gbps", "ps_update_ms", "chunk_mb", "comp_machine_ms", "comm_ms",
    "input_gb", "model_gb",
)  # fmt: skip
TEXTS = ("model", "worker_type", "ps_type", "user", "group")
DEMANDS = ("worker", "ps")
NARROW = (np.int8, np.int16, np.int32)


@dataclass(frozen=True)
class Coded:
    """A column of few distinct values: `words[codes[i]]`, and nothing where the code is MISSING."""

    codes: np.ndarray
    words: Sequence[Any]


@dataclass(frozen=True)
class JobTable:
    """Jobs by arrival. columns: those of INTEGERS, REALS and DEMANDS that any job has; utility: [job, 3]."""

    ids: np.ndarray  # text
    columns: dict[str, np.ndarray]
    texts: dict[str, Coded] = field(default_factory=dict)
    utility: np.ndarray | None = None
    uploads: tuple[np.ndarray, np.ndarray] | None = None  # where each job's delays begin (one more than jobs), and the delays
    provenance: Coded | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> JobTable:
        """The same jobs as columns."""
        columns: dict[str, np.ndarray] = {}
        for name in INTEGERS:
            column = [getattr(job, name) for job in jobs]
            if any(value is not None for value in column):
                columns[name] = np.array([MISSING if value is None else value for value in column], dtype=np.int64)
        for name in REALS:
            column = [getattr(job, name) for job in jobs]
            if any(value is not None for value in column):
                columns[name] = np.array([np.nan if value is None else value for value in column], dtype=float)
        for name in DEMANDS:
            column = [getattr(job, name) for job in jobs]
            if any(value is not None for value in column):
                columns[name] = np.array([value or (MISSING,) * 5 for value in column], dtype=np.int64)
        utility = None
        if any(job.utility for job in jobs):
            rows = [(u.priority, u.sensitivity, u.target_slots) if (u := job.utility) else (np.nan,) * 3 for job in jobs]
            utility = np.array(rows, dtype=float)
        uploads = None
        if any(job.upload_ms is not None for job in jobs):
            delays = [job.upload_ms or () for job in jobs]
            uploads = np.cumsum([0, *map(len, delays)]), np.array([ms for row in delays for ms in row], dtype=np.int64)
        texts = {name: coded([getattr(job, name) for job in jobs]) for name in TEXTS}
        provenance = [tuple(job.provenance.items()) or None for job in jobs]
        origins = coded(provenance)
        return cls(
            np.array([job.id for job in jobs], dtype=object), columns, {n: c for n, c in texts.items() if len(c.words)}, utility,
            uploads, Coded(origins.codes, [dict(word) for word in origins.words]),
        )  # fmt: skip

    @classmethod
    def joined(cls, tables: list[JobTable]) -> JobTable:
        """The tables one after the other, all of which have the same columns or lack some; `tables` is emptied on the way."""
        if len(tables) == 1:
            return tables.pop()
        counts = [len(table) for table in tables]
        ids = np.concatenate([table.ids for table in tables]) if tables else np.empty(0, dtype=object)
        columns: dict[str, np.ndarray] = {}
        for name in (*INTEGERS, *REALS, *DEMANDS):
            if any(name in table.columns for table in tables):
                columns[name] = np.concatenate([_column(table.columns.pop(name, None), name, len(table)) for table in tables])
        texts = {
            name: _recoded([table.texts.get(name) for table in tables], counts)
            for name in TEXTS if any(name in table.texts for table in tables)
        }  # fmt: skip
        utility = uploads = provenance = None
        if any(table.utility is not None for table in tables):
            lacking = np.full((1, 3), np.nan)
            utility = np.concatenate(
                [np.repeat(lacking, n, 0) if t.utility is None else t.utility for t, n in zip(tables, counts, strict=True)]
            )
        if any(table.uploads is not None for table in tables):
            given = [
                t.uploads or (np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int64))
                for t, n in zip(tables, counts, strict=True)
            ]
            lengths = np.concatenate([np.diff(begins) for begins, _ in given])
            uploads = np.concatenate(([0], np.cumsum(lengths))), np.concatenate([delays for _, delays in given])
        if any(table.provenance is not None for table in tables):
            provenance = _recoded([table.provenance for table in tables], counts)
        tables.clear()
        return cls(ids, columns, texts, utility, uploads, provenance)

    def jobs(self) -> Iterator[Job]:
        """The jobs as objects; ModelError when one breaks a rule of the model."""
        for first in range(0, len(self), PIECE):
            yield from self._piece(slice(first, min(first + PIECE, len(self))))

    def _piece(self, rows: slice) -> Iterator[Job]:
        parts: dict[str, list[Any]] = {"id": self.ids[rows].tolist()}
        for name, column in self.columns.items():
            if name in DEMANDS:
                parts[name] = [None if row[0] < 0 else tuple(row) for row in column[rows].tolist()]
            elif name in INTEGERS:
                parts[name] = [None if value == MISSING else value for value in column[rows].tolist()]
            else:
                parts[name] = [None if value != value else value for value in column[rows].tolist()]
        for name, text in self.texts.items():
            missing = "unknown" if name == "model" else None
            parts[name] = [missing if code == MISSING else text.words[code] for code in text.codes[rows].tolist()]
        if self.utility is not None:
            parts["utility"] = [None if row[0] != row[0] else Utility(*row) for row in self.utility[rows].tolist()]
        if self.uploads is not None:
            begins, delays = self.uploads
            ends = zip(begins[rows].tolist(), begins[rows.start + 1 : rows.stop + 1].tolist(), strict=True)
            parts["upload_ms"] = [tuple(delays[a:b].tolist()) or None for a, b in ends]
        if self.provenance is not None:
            words = self.provenance.words
            parts["provenance"] = [{} if code == MISSING else words[code] for code in self.provenance.codes[rows].tolist()]
        names = list(parts)
        for values in zip(*parts.values(), strict=True):
            yield Job(**dict(zip(names, values, strict=True)))

    def take(self, rows: np.ndarray | slice) -> JobTable:
        """Some of the jobs."""
        uploads = None
        if self.uploads is not None:
            begins, delays = self.uploads
            chosen = np.arange(len(self))[rows]
            pieces = [delays[begins[i] : begins[i + 1]] for i in chosen.tolist()]
            uploads = np.cumsum([0, *map(len, pieces)]), np.concatenate(pieces) if pieces else delays[:0]
        return JobTable(
            self.ids[rows], {name: column[rows] for name, column in self.columns.items()},
            {name: Coded(text.codes[rows], text.words) for name, text in self.texts.items()},
            None if self.utility is None else self.utility[rows], uploads,
            None if self.provenance is None else Coded(self.provenance.codes[rows], self.provenance.words),
        )  # fmt: skip

    def moved(self, arrival_ms: np.ndarray) -> JobTable:
        """The same jobs with other arrivals."""
        columns = {**self.columns, "arrival_ms": arrival_ms}
        return JobTable(self.ids, columns, self.texts, self.utility, self.uploads, self.provenance)


def _column(column: np.ndarray | None, name: str, count: int) -> np.ndarray:
    if column is not None:
        return column
    if name in DEMANDS:
        return np.full((count, 5), MISSING, dtype=np.int64)
    return np.full(count, np.nan) if name in REALS else np.full(count, MISSING, dtype=np.int64)


def _recoded(parts: Sequence[Coded | None], counts: Sequence[int]) -> Coded:
    """Columns of words behind each other, with one list of words."""
    words: dict[Any, int] = {}
    plain: list[Any] = []
    codes = []
    for part, count in zip(parts, counts, strict=True):
        if part is None:
            codes.append(np.full(count, MISSING, dtype=np.int64))
            continue
        places = []
        for word in part.words:
            key = tuple(word.items()) if isinstance(word, dict) else word
            if key not in words:
                words[key] = len(plain)
                plain.append(word)
            places.append(words[key])
        codes.append(np.array([*places, MISSING], dtype=np.int64)[part.codes])  # MISSING is the last place
    return Coded(np.concatenate(codes), plain)


def coded(values: Sequence[Any]) -> Coded:
    """A column of hashable values, None where there is none."""
    words: dict[Any, int] = {}
    codes = np.array([MISSING if value is None else words.setdefault(value, len(words)) for value in values], dtype=np.int64)
    return Coded(codes, list(words))


def pack_jobs(tables: Iterable[JobTable]) -> bytes:
    """Tables as they are stored."""
    chunks = [MAGIC]
    for table in tables:
        for first in range(0, len(table), BLOCK):
            body = zlib.compress(_pack(table.take(slice(first, first + BLOCK))), 1)
            chunks += [len(body).to_bytes(4, "little"), body]
    return b"".join(chunks)


def unpack_jobs(data: bytes | memoryview) -> Iterator[JobTable]:
    """The inverse of `pack_jobs`, block by block."""
    view = memoryview(data)
    if len(view) and bytes(view[:4]) != MAGIC:
        raise ValueError(f"not packed jobs: they begin with {bytes(view[:4])!r}, not {MAGIC!r}")
    at = 4
    while at < len(view):
        size = int.from_bytes(view[at : at + 4], "little")
        yield _unpack(zlib.decompress(view[at + 4 : at + 4 + size]))
        at += 4 + size


@dataclass(frozen=True)
class PackedJobs:
    """Jobs as they are stored; iterating makes objects of them, some thousands at a time."""

    data: bytes
    count: int

    @classmethod
    def of(cls, tables: Iterable[JobTable]) -> PackedJobs:
        """Packs the tables as they come."""
        counts: list[int] = []

        def counted() -> Iterator[JobTable]:
            for table in tables:
                counts.append(len(table))
                yield table

        return cls(pack_jobs(counted()), sum(counts))

    def tables(self) -> Iterator[JobTable]:
        """Block by block."""
        return unpack_jobs(self.data)

    def __iter__(self) -> Iterator[Job]:
        return (job for table in self.tables() for job in table.jobs())

    def __len__(self) -> int:
        return self.count


def _pack(table: JobTable) -> bytes:
    columns = {"ids": np.frombuffer("\n".join(table.ids.tolist()).encode(), dtype=np.uint8)}
    columns |= {f"column.{name}": narrow(column) for name, column in table.columns.items()}
    columns |= {f"text.{name}": narrow(text.codes) for name, text in table.texts.items()}
    words: dict[str, Any] = {name: list(text.words) for name, text in table.texts.items()}
    if table.utility is not None:
        columns["utility"] = table.utility
    if table.uploads is not None:
        columns["upload.begins"], columns["upload.delays"] = (narrow(part) for part in table.uploads)
    if table.provenance is not None:
        columns["provenance"] = narrow(table.provenance.codes)
        words["provenance"] = list(table.provenance.words)
    return pack({"jobs": len(table), "words": words}, columns)


def _unpack(data: bytes) -> JobTable:
    meta, columns = unpack(data)
    words = meta["words"]
    whole = {name: _wide(column) for name, column in columns.items()}
    named = {name.removeprefix("column."): column for name, column in whole.items() if name.startswith("column.")}
    texts = {name: Coded(whole[f"text.{name}"], words[name]) for name in TEXTS if f"text.{name}" in whole}
    ids = columns["ids"].tobytes().decode().split("\n") if meta["jobs"] else []
    uploads = (whole["upload.begins"], whole["upload.delays"]) if "upload.begins" in whole else None
    provenance = Coded(whole["provenance"], words["provenance"]) if "provenance" in whole else None
    return JobTable(np.array(ids, dtype=object), named, texts, whole.get("utility"), uploads, provenance)


def narrow(column: np.ndarray) -> np.ndarray:
    """Integers in as few bytes as hold them."""
    if column.dtype.kind != "i" or not column.size:
        return column
    low, high = int(column.min()), int(column.max())
    return next((column.astype(t) for t in NARROW if np.iinfo(t).min <= low and high <= np.iinfo(t).max), column)


def _wide(column: np.ndarray) -> np.ndarray:
    return column.astype(np.int64) if column.dtype.kind == "i" else column
