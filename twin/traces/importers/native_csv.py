"""The twin's own jobs.csv (twin/files/jobs_csv.py): nothing is sampled; bad rows are skipped with line and column."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from scheduling.model.provenance import FORMER, PROVENANCES, current
from scheduling.model.values import RESOURCES
from twin.files.job_table import DEMANDS, INTEGERS, MISSING, REALS, TEXTS, Coded, JobTable, coded
from twin.files.jobs_csv import ALL, UTILITY, to_thousandths
from twin.files.packed_jobs import narrow
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.synthesis import MAX_JOBS
from twin.traces.uploads.tables import Portion, Table, closeness, header

FORMAT = "jobs_csv"
TITLE = "Native jobs.csv"
NEEDED = ("id", "arrival_ms")
MAX_NUMBER = 2**53
FROM_ZERO = ("arrival_ms", "cloud_upload_ms")  # the other integers count from 1
POSITIVE = ("minibatch_ms", "sample_ms", "internal_gbps", "external_gbps")
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
ORIGINS = re.compile(r"(?:[a-z_.]{1,40}=(?:" + "|".join((*PROVENANCES, *FORMER)) + r") ?)*")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), NEEDED)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to jobs, sorted by arrival."""
    skipped, rows, seen = Skipped(), 0, set[str]()
    tables: list[JobTable] = []
    for source in sources:
        columns = header(source.head)
        table = Table(
            source, [*NEEDED, *(name for name in ALL if name in columns and name not in NEEDED)], skipped, options
        )
        for portion in table.portions():
            tables.append(_Rows(portion, seen).jobs(skipped))
        rows += table.rows
        if rows > MAX_JOBS:
            raise ImportRefused(f"{source.name}: more than {MAX_JOBS:,} jobs; import them in parts")
    jobs = JobTable.joined(tables)
    if not len(jobs):
        raise skipped.nothing(sources[0].name, rows)
    arrival = jobs.columns["arrival_ms"]
    if (arrival[1:] < arrival[:-1]).any():
        jobs = jobs.take(np.argsort(arrival, kind="stable"))
    return Read(rows, skipped, jobs=jobs)


class _Rows:
    """Batch of rows: each column with its invalid rows."""

    def __init__(self, portion: Portion, seen: set[str]) -> None:
        self.portion = portion
        self.count = len(portion.lines)
        self.reasons: list[tuple[str, np.ndarray, str]] = []
        self.ids = portion.columns["id"]
        repeated = np.zeros(self.count, dtype=bool)
        for i, name in enumerate(self.ids):
            repeated[i] = name in seen
            seen.add(name)
        self._spoils("unreadable_name", np.array([not NAME.fullmatch(name) for name in self.ids], dtype=bool), "id")
        self._spoils("duplicate_id", repeated, "id")

    def jobs(self, skipped: Skipped) -> JobTable:
        columns: dict[str, np.ndarray] = {}
        for name in INTEGERS:
            if name in self.portion.columns:
                columns[name] = self._integers(name)
        for name in REALS:
            if name in self.portion.columns:
                columns[name] = self._reals(name, 0.0 if name in POSITIVE else -1e-300)
        for role in DEMANDS:
            if any(f"{role}.{part}" in self.portion.columns for part in RESOURCES):
                columns[role] = self._demand(role)
        texts = {
            name: coded([text or None for text in self.portion.columns[name]])
            for name in TEXTS
            if name in self.portion.columns
        }
        for name in texts:
            self._spoils(
                f"unreadable_{name}",
                np.array([len(text) > 200 for text in self.portion.columns[name]], dtype=bool),
                name,
            )
        utility, uploads, provenance = self._utility(), self._uploads(), self._provenance()
        good = self.portion.sift(skipped, self.reasons)
        whole = JobTable(np.array(self.ids, dtype=object), columns, texts, utility, uploads, provenance)
        return whole if good.all() else whole.take(np.flatnonzero(good))

    def _spoils(self, reason: str, bad: np.ndarray, column: str) -> None:
        self.reasons.append((reason, bad, column))

    def _numbers(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(values, NaN where the cell is empty or no number; which cells are empty)"""
        values = self.portion.numbers(name)
        lacking = np.isnan(values)
        if lacking.any():
            lacking &= np.array([not text for text in self.portion.columns[name]], dtype=bool)
        return values, lacking

    def _integers(self, name: str) -> np.ndarray:
        values, empty = self._numbers(name)
        least = 0 if name in FROM_ZERO else 1
        good = (values >= least) & (values <= MAX_NUMBER) & (values == np.floor(values))
        for row in np.flatnonzero(values == MAX_NUMBER).tolist():  # what is greater may have been rounded to it
            good[row] = self.portion.columns[name][row] == str(MAX_NUMBER)
        self._spoils(f"unreadable_{name}", ~(good | (empty if name not in NEEDED else False)), name)
        return narrow(np.where(good, values, MISSING).astype(np.int64))

    def _reals(self, name: str, above: float) -> np.ndarray:
        values, empty = self._numbers(name)
        self._spoils(f"unreadable_{name}", ~((values > above) | empty), name)
        return values

    def _demand(self, role: str) -> np.ndarray:
        """[job, 5]: amounts that are not given are 0 where any is given."""
        amounts, given = np.zeros((self.count, len(RESOURCES)), dtype=np.int64), np.zeros(self.count, dtype=bool)
        for i, part in enumerate(RESOURCES):
            name = f"{role}.{part}"
            if name in self.portion.columns:
                values, empty = self._numbers(name)
                amounts[:, i] = to_thousandths(np.where(empty, 0.0, values))
                self._spoils(f"unreadable_{name}", amounts[:, i] == MISSING, name)
                given |= ~empty
        amounts[~given] = MISSING
        return narrow(amounts)

    def _utility(self) -> np.ndarray | None:
        names = [f"utility.{part}" for part in UTILITY]
        if any(name not in self.portion.columns for name in names):
            return None
        columns, blanks = zip(*(self._numbers(name) for name in names), strict=True)
        none = np.logical_and.reduce(blanks)
        priority, sensitivity, target_slots = columns
        good = (priority > 0) & (sensitivity >= 0) & (target_slots >= 0)
        self._spoils("unreadable_utility", ~(good | none), names[0])
        return np.where(good[:, None], np.stack(columns, axis=1), np.nan)

    def _uploads(self) -> tuple[np.ndarray, np.ndarray] | None:
        if "upload_ms" not in self.portion.columns:
            return None
        parts = [text.split() for text in self.portion.columns["upload_ms"]]
        bad = np.array(
            [not all(p.isascii() and p.isdigit() and len(p) <= 15 for p in row) for row in parts], dtype=bool
        )
        self._spoils("unreadable_upload_ms", bad, "upload_ms")
        kept = [[] if spoiled else [int(p) for p in row] for row, spoiled in zip(parts, bad.tolist(), strict=True)]
        return np.cumsum([0, *map(len, kept)]), np.array([ms for row in kept for ms in row], dtype=np.int64)

    def _provenance(self) -> Coded | None:
        if "provenance" not in self.portion.columns:
            return None
        found = coded([text or None for text in self.portion.columns["provenance"]])
        whole = [len(word) < 5_000 and ORIGINS.fullmatch(word) is not None for word in found.words]
        bad = np.array([code != MISSING and not whole[code] for code in found.codes.tolist()], dtype=bool)
        self._spoils("unreadable_provenance", bad, "provenance")
        pairs = [
            current(dict(pair.split("=") for pair in word.split())) if fine else {}
            for word, fine in zip(found.words, whole, strict=True)
        ]
        return Coded(found.codes, pairs)
