"""Jobs as columns, the form in which traces are stored. A million jobs take about 100 MB, and ten times that as
objects.

A column that no job has is absent; a job that lacks a part has NaN, MISSING or -1 there. Stored as blocks of at most
BLOCK jobs: ``TWJ1``, then for each block its length (uint32) and a zlib-compressed columns.pack.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, overload

import numpy as np

from scheduling.model.values import ZERO, Job, Utility
from twin.infra import gc_control
from twin.infra.columns import pack, unpack

BLOCK = 50_000
PIECE = 2_000  # jobs that are Python objects at a time
MAX_SINGLE = 1_000  # jobs that are made one by one, before all are made at once
MAGIC = b"TWJ1"
MISSING = -1
INTEGERS = (
    "arrival_ms", "epochs", "num_chunks", "minibatches_per_chunk", "num_samples", "global_batch", "workers_per_ps",
    "requested_workers", "iterations", "iterations_per_epoch", "cloud_upload_ms", "limit_ms",
)  # fmt: skip
REALS = (
    "minibatch_ms", "gradient_mb", "sample_ms", "internal_gbps", "external_gbps", "ps_update_ms", "chunk_mb",
    "comp_machine_ms", "comm_ms", "input_gb", "model_gb",
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
    # where each job's delays begin (one more than jobs), and the delays
    uploads: tuple[np.ndarray, np.ndarray] | None = None
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
            rows = [
                (u.priority, u.sensitivity, u.target_slots) if (u := job.utility) else (np.nan,) * 3 for job in jobs
            ]
            utility = np.array(rows, dtype=float)
        uploads = None
        if any(job.upload_ms is not None for job in jobs):
            delays = [job.upload_ms or () for job in jobs]
            uploads = np.cumsum([0, *map(len, delays)]), np.array([ms for row in delays for ms in row], dtype=np.int64)
        texts = {name: coded([getattr(job, name) for job in jobs]) for name in TEXTS}
        provenance = [tuple(job.provenance.items()) or None for job in jobs]
        origins = coded(provenance)
        return cls(
            np.array([job.id for job in jobs], dtype=object), columns, {n: c for n, c in texts.items() if len(c.words)},
            utility, uploads, Coded(origins.codes, [dict(word) for word in origins.words]),
        )  # fmt: skip

    @classmethod
    def joined(cls, tables: list[JobTable]) -> JobTable:
        """The tables one after the other, with the same columns or some missing; `tables` is emptied on the way."""
        if len(tables) == 1:
            return tables.pop()
        counts = [len(table) for table in tables]
        ids = np.concatenate([table.ids for table in tables]) if tables else np.empty(0, dtype=object)
        columns: dict[str, np.ndarray] = {}
        for name in (*INTEGERS, *REALS, *DEMANDS):
            if any(name in table.columns for table in tables):
                columns[name] = np.concatenate(
                    [_column(table.columns.pop(name, None), name, len(table)) for table in tables]
                )
        texts = {
            name: _recoded([table.texts.get(name) for table in tables], counts)
            for name in TEXTS if any(name in table.texts for table in tables)
        }  # fmt: skip
        utility = uploads = provenance = None
        if any(table.utility is not None for table in tables):
            lacking = np.full((1, 3), np.nan)
            utility = np.concatenate(
                [
                    np.repeat(lacking, n, 0) if t.utility is None else t.utility
                    for t, n in zip(tables, counts, strict=True)
                ]
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
        names = ["id", *self.columns, *self.texts]
        beside = {"utility": self.utility, "upload_ms": self.uploads, "provenance": self.provenance}
        names += [name for name, part in beside.items() if part is not None]
        parts = {name: self.values(name, rows) for name in names}
        for values in zip(*parts.values(), strict=True):
            yield Job(**dict(zip(parts, values, strict=True)))

    def values(self, name: str, rows: slice = slice(None)) -> list[Any]:
        """Field of the jobs, with its default for jobs without it."""
        if name == "id":
            return list(self.ids[rows].tolist())
        if name in TEXTS:
            return self._words(name, rows)
        if name in self.columns:
            values = self.columns[name][rows].tolist()
            if name in DEMANDS:
                return [None if row[0] < 0 else tuple(row) for row in values]
            if name in INTEGERS:
                return [None if value == MISSING else value for value in values]
            return [None if value != value else value for value in values]
        if name == "utility" and self.utility is not None:
            return [None if row[0] != row[0] else Utility(*row) for row in self.utility[rows].tolist()]
        if name == "upload_ms" and self.uploads is not None:
            begins, delays = self.uploads
            ends = zip(begins[:-1][rows].tolist(), begins[1:][rows].tolist(), strict=True)
            return [tuple(delays[a:b].tolist()) or None for a, b in ends]
        if name == "provenance" and self.provenance is not None:
            words = self.provenance.words
            return [{} if code == MISSING else words[code] for code in self.provenance.codes[rows].tolist()]
        return [None] * len(self.ids[rows])

    def _words(self, name: str, rows: slice) -> list[str | None]:
        missing = "unknown" if name == "model" else None
        if name not in self.texts:
            return [missing] * len(self.ids[rows])
        text = self.texts[name]
        return [missing if code == MISSING else text.words[code] for code in text.codes[rows].tolist()]

    def take(self, rows: np.ndarray | slice) -> JobTable:
        """Selection of some jobs."""
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
        """Table with other arrivals."""
        columns = {**self.columns, "arrival_ms": arrival_ms}
        return JobTable(self.ids, columns, self.texts, self.utility, self.uploads, self.provenance)


_making = threading.Lock()


class StoredJobs(Sequence[Job]):
    """The jobs of a table as a sequence: objects are made of single ones as they are asked for, all once many were."""

    def __init__(self, table: JobTable) -> None:
        self.table = table
        self._made: list[Job] | None = None
        self._asked = 0  # single ones so far

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        self._asked += 1
        if self._made is not None or self._asked > MAX_SINGLE:
            return (self._made or self.made())[index]
        rows = range(len(self))[index]
        return self.some(rows) if isinstance(rows, range) else self.some([rows])[0]

    def __iter__(self) -> Iterator[Job]:
        return iter(self.made())

    def some(self, rows: Sequence[int]) -> list[Job]:
        """Values of some rows."""
        made = self._made
        return (
            [made[row] for row in rows]
            if made is not None
            else list(self.table.take(np.asarray(rows, dtype=np.int64)).jobs())
        )

    def made(self) -> list[Job]:
        """Jobs as objects, which are kept from now on."""
        with _making:  # threads that ask at once share them
            if self._made is None:
                with gc_control.paused():
                    self._made = list(self.table.jobs())
        return self._made


def some_of(jobs: Sequence[Job], rows: Sequence[int]) -> list[Job]:
    """The jobs of some rows."""
    return jobs.some(rows) if isinstance(jobs, StoredJobs) else [jobs[row] for row in rows]


def objects_of(jobs: Sequence[Job]) -> Sequence[Job]:
    """Jobs as objects, for code that reads each of them."""
    return jobs.made() if isinstance(jobs, StoredJobs) else jobs


def field_of(jobs: Sequence[Job], name: str) -> list[Any]:
    """Field of all jobs, without objects for jobs that are stored as columns."""
    return jobs.table.values(name) if isinstance(jobs, StoredJobs) else [getattr(job, name) for job in jobs]


def demands_of(jobs: Sequence[Job], name: str) -> np.ndarray:
    """int64 [job, resource] of `worker` or `ps`; zero where a job has none."""
    if isinstance(jobs, StoredJobs):
        column = jobs.table.columns.get(name)
        return np.zeros((len(jobs), len(ZERO)), dtype=np.int64) if column is None else np.maximum(column, 0)
    return np.array([getattr(job, name) or ZERO for job in jobs], dtype=np.int64).reshape(-1, len(ZERO))


def any_utility(jobs: Sequence[Job]) -> bool:
    """True if any of the jobs has a utility."""
    if isinstance(jobs, StoredJobs):
        return jobs.table.utility is not None and not np.isnan(jobs.table.utility[:, 0]).all()
    return any(job.utility is not None for job in jobs)


def same_jobs(jobs: Sequence[Job], others: Sequence[Job]) -> bool:
    """True if both are equal in every field."""
    if len(jobs) != len(others):
        return False
    return all(field_of(jobs, field.name) == field_of(others, field.name) for field in fields(Job))


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
    codes = np.array(
        [MISSING if value is None else words.setdefault(value, len(words)) for value in values], dtype=np.int64
    )
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
        raise ValueError(f"not a packed job table: it begins with {bytes(view[:4])!r}, not {MAGIC!r}")
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
