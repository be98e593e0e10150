"""Tables of jobs as they are stored: ``TWJ1``, then for each block of at most BLOCK jobs its length (uint32) and a
zlib-compressed columns.pack."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.model.provenance import current
from scheduling.model.values import Job
from twin.files.job_table import TEXTS, Coded, JobTable
from twin.infra.columns import pack, unpack

BLOCK = 50_000
MAGIC = b"TWJ1"
NARROW = (np.int8, np.int16, np.int32)


def pack_jobs(tables: Iterable[JobTable]) -> bytes:
    """Tables as they are stored."""
    packed = io.BytesIO()  # its value is not copied
    packed.write(MAGIC)
    for blocks in map(_blocks, tables):  # a loop over the tables would keep each until the next one is made
        packed.write(blocks)
    return packed.getvalue()


def _blocks(table: JobTable) -> bytes:
    found = []
    for first in range(0, len(table), BLOCK):
        body = zlib.compress(_pack(table.take(slice(first, first + BLOCK))), 1)
        found += [len(body).to_bytes(4, "little"), body]
    return b"".join(found)


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
        """Packed jobs of these tables, packed as they come."""
        counts: list[int] = []

        def counted(table: JobTable) -> JobTable:
            counts.append(len(table))
            return table

        return cls(pack_jobs(map(counted, tables)), sum(counts))

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
    provenance = (
        Coded(whole["provenance"], [current(word) for word in words["provenance"]]) if "provenance" in whole else None
    )
    return JobTable(np.array(ids, dtype=object), named, texts, whole.get("utility"), uploads, provenance)


def narrow(column: np.ndarray) -> np.ndarray:
    """Integers in as few bytes as hold them."""
    if column.dtype.kind != "i" or not column.size:
        return column
    low, high = int(column.min()), int(column.max())
    return next((column.astype(t) for t in NARROW if np.iinfo(t).min <= low and high <= np.iinfo(t).max), column)


def _wide(column: np.ndarray) -> np.ndarray:
    return column.astype(np.int64) if column.dtype.kind == "i" else column
