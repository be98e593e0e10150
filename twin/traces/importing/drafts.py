"""Input and output of format readers: files, columns of values, and skipped rows."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import IO, Any

import numpy as np

from scheduling.model.values import Cluster
from scheduling.reporting.quantities import counted
from twin.files.job_table import JobTable
from twin.files.outputs import cell
from twin.traces.importing.reading import AS_STATED, Reading

HEAD = 64 * 1024
MAX_LISTED = 1_000  # skipped rows that a report shows; its CSV has them all
MAX_VALUE = 200  # characters of a cell that a report quotes


class ImportRefused(ValueError):
    """Error: the file cannot be imported. One printable sentence with file, line and column where they are known."""

    def __init__(self, sentence: str) -> None:
        super().__init__(printable(sentence))


class ImportCancelled(Exception):
    """Error: a user cancelled the import."""


@dataclass
class Source:
    """Plain file of an upload: UTF-8 text without a byte-order mark, at its beginning.

    before, total: bytes of the upload's files ahead of this one, and of all of them. lines: of the text, None where
    they have not been counted.
    """

    name: str
    stream: IO[bytes]
    size: int
    before: int = 0
    total: int = 1
    lines: int | None = None

    @cached_property
    def head(self) -> bytes:
        """The first HEAD bytes."""
        self.stream.seek(0)
        head = self.stream.read(HEAD)
        self.stream.seek(0)
        return head

    def share(self, read_bytes: int) -> float:
        """Share of the whole upload that is read after `read_bytes` bytes of this file."""
        return (self.before + read_bytes) / max(1, self.total)


@dataclass
class OtherLines:
    """Lines that are no rows: headers, comments, blank lines."""

    count: int = 0


@dataclass(frozen=True)
class ReadOptions:
    """Options of a reader: seed of samples, slot length, progress callback, column mapping, and how to read values.

    tick: called with the share that is done; raises ImportCancelled after a cancellation. others: a reader adds each
    line to its rows or to these.
    """

    seed: int = 0
    slot_ms: int = 300_000
    tick: Callable[[float], None] = lambda _: None
    mapping: Mapping[str, Any] | None = None
    reading: Reading = AS_STATED
    others: OtherLines = field(default_factory=OtherLines)


class Skipped:
    """Rows left out, each with file, line and reason code. All of them go to a CSV; the first are listed."""

    def __init__(self, packed: bytes = b"") -> None:
        self.file = ""  # of the rows that are being read
        self.listed: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()
        self._packed = io.BytesIO()
        self._packed.write(packed)
        self._text = io.TextIOWrapper(gzip.GzipFile(fileobj=self._packed, mode="wb", compresslevel=1, mtime=0),
                                      encoding="utf-8", newline="")  # fmt: skip
        self._writer = csv.writer(self._text)

    def add(self, line: int, reason: str, value: object = "") -> None:
        """Addition of a row with its first line (1-based, the header is line 1)."""
        text = printable(str(value)[:MAX_VALUE])
        self.counts[reason] += 1
        self._writer.writerow([cell(self.file), line, reason, cell(text)])
        if len(self.listed) < MAX_LISTED:
            self.listed.append({"file": self.file, "line": int(line), "reason": reason, "value": text})

    def __len__(self) -> int:
        return self.counts.total()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled form; after it rows can be added only to the copy."""
        return Skipped, (self.packed(),), {"file": self.file, "listed": self.listed, "counts": self.counts}

    def packed(self) -> bytes:
        """Rows as gzipped CSV without a header; after it none can be added."""
        self._text.close()
        return self._packed.getvalue()

    @staticmethod
    def joined(parts: Sequence[Skipped]) -> bytes:
        """The CSV of an import, gzipped: file, line, reason, value."""
        return gzip.compress(b"file,line,reason,value\r\n", mtime=0) + b"".join(part.packed() for part in parts)

    def nothing(self, name: str, rows: int, noun: str = "job") -> ImportRefused:
        """Refusal of a file in which none of n rows could be used; it quotes the first of them."""
        return ImportRefused(f"{name}: {counted(rows, 'row')} read, no {noun} found; {self._first()}")

    def _first(self) -> str:
        if not self.listed:
            return "there are no rows to read"
        row = min(self.listed, key=lambda row: row["line"])
        value = f" {row['value']!r}" if row["value"] else ""
        return f"line {row['line']}: {row['reason'].replace('_', ' ')}{value}"


@dataclass
class Drafts:
    """Jobs as the source gives them, sorted by arrival; each column has one entry for each job.

    keys: the source's id (text) or row number, distinct; random draws are keyed by it, so that filtering changes no
    other job. prefix: what makes a job id of a key. arrival_ms: from the first row that can be used. run_ms: > 0.
    workers: of the gang. demand: [job, 5] thousandths of one worker, -1 = not in the source, to be sampled. origins:
    {name: trace | derived}. known: {name of KNOWN: column}, what else the source says, with gaps: NaN, -1 or "".
    """

    keys: np.ndarray
    prefix: str
    arrival_ms: np.ndarray
    run_ms: np.ndarray
    workers: np.ndarray
    demand: np.ndarray
    origins: dict[str, str]
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: np.ndarray | slice) -> Drafts:
        """Selection of some jobs."""
        return replace(
            self, keys=self.keys[rows], arrival_ms=self.arrival_ms[rows], run_ms=self.run_ms[rows],
            workers=self.workers[rows], demand=self.demand[rows],
            known={name: column[rows] for name, column in self.known.items()},
        )  # fmt: skip


# model, group (virtual cluster, queue, partition), user: text.
# gradient_mb, global_batch, iterations, workers_per_ps: numbers.
# utility_kind: 0 insensitive, 1 sensitive, 2 critical.
# limit_ms: time limit that the user stated. target_ms: from the arrival. ps: [job, 5] of one parameter server.
KNOWN = (
    "model", "group", "user", "gradient_mb", "global_batch", "iterations", "workers_per_ps", "utility_kind",
    "target_ms", "limit_ms", "ps",
)  # fmt: skip


@dataclass
class Read:
    """The result of a format's reader: drafts, or finished jobs, or a cluster.

    merged: rows folded into jobs. lines: of the files, 0 where rows are no lines.
    """

    rows: int
    skipped: Skipped
    drafts: Drafts | None = None
    jobs: JobTable | None = None
    cluster: Cluster | None = None
    notes: list[str] = field(default_factory=list)
    merged: int = 0
    lines: int = 0


def printable(text: str) -> str:
    """The text with escape sequences for what cannot be printed, such as `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def safe_name(text: str) -> str:
    """A file's name as the name of a cluster: its stem, of letters, digits, - and _."""
    stem = text.rsplit("/", 1)[-1].split(".")[0]
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in stem)[:100] or "upload"
