"""Jobs as columns, the form in which traces are stored. A million jobs take about 100 MB, and ten times that as
objects.

A column that no job has is absent; a job that lacks a part has NaN, MISSING or -1 there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduling.model.values import GPU, RESOURCES, Job, Utility

BATCH = 2_000  # jobs that are Python objects at a time
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
                columns[name] = np.array([value or (MISSING,) * len(RESOURCES) for value in column], dtype=np.int64)
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
        for first in range(0, len(self), BATCH):
            yield from self._batch(slice(first, min(first + BATCH, len(self))))

    def _batch(self, rows: slice) -> Iterator[Job]:
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
                return [None if row[GPU] == MISSING else tuple(row) for row in values]
            if name in INTEGERS:
                return [None if value == MISSING else value for value in values]
            return [None if value != value else value for value in values]
        if name == "utility" and self.utility is not None:
            stated = self.utility[rows].tolist()
            return [None if priority != priority else Utility(priority, *rest) for priority, *rest in stated]
        if name == "upload_ms" and self.uploads is not None:
            begins, delays = self.uploads
            ends = zip(begins[:-1][rows].tolist(), begins[1:][rows].tolist(), strict=True)
            return [tuple(delays[a:b].tolist()) or None for a, b in ends]
        if name == "provenance" and self.provenance is not None:
            words = self.provenance.words
            return [{} if code == MISSING else words[code] for code in self.provenance.codes[rows].tolist()]
        return [None] * len(self.ids[rows])

    def has(self, name: str) -> np.ndarray:
        """[job] True if it has this number."""
        if name not in self.columns:
            return np.zeros(len(self), dtype=bool)
        column = self.columns[name]
        return ~np.isnan(column) if name in REALS else column != MISSING

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
            parts = [delays[begins[i] : begins[i + 1]] for i in chosen.tolist()]
            uploads = np.cumsum([0, *map(len, parts)]), np.concatenate(parts) if parts else delays[:0]
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


def _column(column: np.ndarray | None, name: str, count: int) -> np.ndarray:
    if column is not None:
        return column
    if name in DEMANDS:
        return np.full((count, len(RESOURCES)), MISSING, dtype=np.int64)
    return np.full(count, np.nan) if name in REALS else np.full(count, MISSING, dtype=np.int64)


def _recoded(parts: Sequence[Coded | None], counts: Sequence[int]) -> Coded:
    """Columns of words one after the other, with one list of words."""
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
