"""Jobs of a cluster's accounting, which states totals of each: submission, run time, GPUs, CPUs, memory.

A worker has 1 GPU and its share of the rest; a worker of a job without GPUs has 1 CPU. Rows of one id are attempts of a
job: run times add up, the last row says what the job needs. Components of a heterogeneous job (700+0, 700+1) run
together as one gang: amounts add up, the longest run time counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling.reporting.quantities import counted
from twin.moments import date_time
from twin.traces.importers._shared.shapes import shapes
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Skipped, Source
from twin.traces.importing.reading import Reading
from twin.traces.uploads.lines import portions

NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
COMPONENT = re.compile(r"\+\d+$")  # of a heterogeneous job
LATEST_MS = 253_402_300_800_000  # the year 10000, which no date can state
MAX_RUN_MS = 100 * 366 * 86_400_000  # a century
MAX_WORKERS = 1_000_000
MAX_NUMBER = 2.0**50
NUMBERS = ("line", "submit", "run", "gpus", "cpus", "mb", "limit", "file")


@dataclass(frozen=True)
class Entry:
    """Row of an accounting. Times in ms since 1970; NaN where unknown, -1 for no limit. run_ms: if not end - start."""

    key: str
    submit_ms: float
    start_ms: float
    end_ms: float
    run_ms: float = math.nan
    gpus: float = 0.0
    cpus: float = math.nan
    mb: float = math.nan
    limit_ms: float = -1.0
    group: str = ""
    user: str = ""

    @property
    def length_ms(self) -> float:
        return self.end_ms - self.start_ms if math.isnan(self.run_ms) else self.run_ms

    def fault(self) -> tuple[str, str]:
        """(reason, value) for which the row cannot be imported; empty where it can."""
        rules = (
            ("unreadable_name", not NAME.fullmatch(self.key), self.key),
            ("unreadable_submit", not 0 <= self.submit_ms < LATEST_MS, f"{self.submit_ms:g}"),
            ("no_start", math.isnan(self.start_ms), self.key),
            ("no_end", math.isnan(self.length_ms), self.key),
            ("run_not_positive", self.length_ms < 1, f"{self.length_ms / 1000:g} s"),
            ("run_too_long", self.length_ms > MAX_RUN_MS, f"{self.length_ms / 1000:g} s"),
            ("too_many_gpus", not (self.gpus or 0) <= MAX_WORKERS, f"{self.gpus:g}"),
            ("too_many_processors", not self.gpus and self.cpus > MAX_WORKERS, f"{self.cpus:g}"),
        )
        return next(((reason, value) for reason, bad, value in rules if bad), ("", ""))


@dataclass
class Accounts:
    """Rows of jobs that ran. files: of the rows, by number; local: whether the times are those of a clock, not UTC."""

    reading: Reading
    local: bool = False
    parts: list[NDArray[np.float64]] = field(default_factory=list)  # NUMBERS of each row
    keys: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    pending: list[tuple[float, ...]] = field(default_factory=list)  # NUMBERS of rows that are not in `parts` yet
    words: dict[str, str] = field(default_factory=dict)

    def open(self, source: Source, skipped: Skipped) -> None:
        """The next file: rows that follow are of it."""
        skipped.file = source.name
        self.files.append(source.name)

    def lines(self, source: Source, options: ReadOptions, skipped: Skipped) -> Iterator[tuple[int, str]]:
        """(number, text) of each line of a file that is neither empty nor a comment; the others are counted."""
        self.open(source, skipped)
        for first, lines in portions(source, options):
            for number, raw in enumerate(lines, first):
                if not raw.strip() or raw[:1] == b"#":
                    options.others.count += 1
                else:
                    yield number, raw.decode("utf-8", "replace")

    def offer(self, line: int, entry: Entry, skipped: Skipped) -> None:
        """A row, which is skipped if it has a fault."""
        reason, value = entry.fault()
        if reason:
            skipped.add(line, reason, value)
            return
        mb, cpus = (x if 0 < x < MAX_NUMBER else math.nan for x in (entry.mb, entry.cpus))
        self.pending.append((
            line, entry.submit_ms, entry.length_ms, entry.gpus, math.floor(cpus) if cpus >= 1 else cpus, mb,
            entry.limit_ms if 1 <= entry.limit_ms <= MAX_RUN_MS else -1, len(self.files) - 1,
        ))  # fmt: skip
        self.keys.append(entry.key)
        self.groups.append(self.word(entry.group))
        self.users.append(self.word(entry.user))

    def word(self, text: str) -> str:
        """Text of each queue and user, shared between rows; "" if it cannot be displayed."""
        return self.words.setdefault(text, text if text.isprintable() and len(text) <= 200 else "")

    def read(
        self, sources: Sequence[Source], rows: int, skipped: Skipped, notes: Sequence[str], merged: int = 0
    ) -> Read:
        """The jobs by arrival; `merged` rows belong to rows that are here."""
        if self.pending:
            self.parts.append(np.array(self.pending, dtype=float).T)
        if not self.keys:
            raise skipped.nothing(sources[0].name, rows)
        numbers = dict(zip(NUMBERS, np.concatenate(self.parts, axis=1), strict=True))
        gangs = _Gangs(self._keys(), numbers)
        without = gangs.gpus == 0
        mixed = bool(without.any()) and not without.all()
        kept = not mixed or self.reading.keeps_cpu_jobs(int(without.sum()), len(without))
        if not kept:
            for row in np.flatnonzero(without[gangs.job_of_row]).tolist():
                skipped.file = self.files[int(numbers["file"][row])]
                skipped.add(int(numbers["line"][row]), "no_gpu", self.keys[row])
        chosen = np.arange(len(without)) if kept else np.flatnonzero(~without)
        chosen = chosen[np.lexsort((gangs.last[chosen], gangs.submit[chosen]))]
        last = gangs.last[chosen]
        workers, demand = shapes(gangs.gpus[chosen], gangs.cpus[chosen], gangs.mb[chosen])
        zero = int(gangs.submit[chosen].min())
        drafts = Drafts(
            keys=gangs.jobs[chosen], prefix="", arrival_ms=gangs.submit[chosen].astype(np.int64) - zero,
            run_ms=np.maximum(1, np.rint(gangs.run[chosen])).astype(np.int64), workers=workers, demand=demand,
            origins={"arrival_ms": "trace", "requested_workers": "trace", "worker": "derived", "group": "trace",
                     "user": "trace", "limit_ms": "trace"},
            known={name: np.array(words, dtype=object)[last]
                   for name, words in (("group", self.groups), ("user", self.users))}
            | {"limit_ms": numbers["limit"][last]},
        )  # fmt: skip
        again = int(np.isin(gangs.job_of_row, chosen).sum()) - len(chosen)
        return Read(
            rows,
            skipped,
            drafts,
            notes=[
                f"{self.reading.first_note(zero)}."
                if self.local
                else f"Times are in UTC; the first is {date_time(zero)}.",
                *notes,
                *self._notes(gangs, chosen, without, kept, again),
            ],
            merged=merged + again,
        )

    def _keys(self) -> NDArray[np.object_]:
        """The job ids, with the name of their cluster only where there are several."""
        keys = np.array(self.keys, dtype=object)
        clusters = {key.partition(":")[0] if ":" in key else "" for key in self.keys}
        if len(clusters) > 1 or clusters == {""}:
            return keys
        return np.array([key.partition(":")[2] for key in self.keys], dtype=object)

    def _notes(
        self, gangs: _Gangs, chosen: NDArray[np.int64], without: NDArray[np.bool_], kept: bool, again: int
    ) -> list[str]:
        notes = []
        if without.all():
            notes.append(
                "No job states GPUs: one worker has 1 CPU and its share of the memory (one worker per job if CPUs are "
                "not stated either)."
            )
        else:
            notes.append("One worker has 1 GPU and its share of the job's CPUs and memory.")
        if without.any() and not without.all():
            share = f"Jobs without GPUs: {int(without.sum()):,} of {len(without):,}"
            option = "“Jobs without GPUs” (--cpu-jobs)"
            notes.append(
                f"{share}, imported with workers of 1 CPU; {option} can skip them."
                if kept
                else f"{share}, not imported because other jobs have GPUs; {option} can keep them."
            )
        components = int(gangs.components[chosen].sum())
        if components:
            notes.append(
                f"Heterogeneous jobs: {counted(components, 'row')} of further components joined; the components of a "
                "job run together."
            )
        if again > components:
            notes.append(
                f"Requeued: {counted(again - components, 'row')} with the id of an earlier row; such a job has the "
                "first submission and the sum of its run times."
            )
        return notes


class _Gangs:
    """Jobs of the rows, one entry each: id, number of its last row, components beyond the first, and totals."""

    def __init__(self, keys: NDArray[np.object_], numbers: Mapping[str, NDArray[np.float64]]) -> None:
        import pandas as pd

        part_of, parts = pd.factorize(keys)
        last_of_part = np.zeros(len(parts), dtype=np.int64)
        np.maximum.at(last_of_part, part_of, np.arange(len(keys)))  # the row that says what the job needs
        job_of, self.jobs = pd.factorize(np.array([COMPONENT.sub("", part) for part in parts.tolist()], dtype=object))
        self.job_of_row = job_of[part_of]
        count = len(self.jobs)
        self.components = np.bincount(job_of, minlength=count) - 1
        self.submit = np.full(count, np.inf)
        np.minimum.at(self.submit, self.job_of_row, numbers["submit"])
        self.run = np.zeros(count)
        np.maximum.at(self.run, job_of, np.bincount(part_of, weights=numbers["run"]))
        self.last = np.zeros(count, dtype=np.int64)
        np.maximum.at(self.last, job_of, last_of_part)
        self.gpus, self.cpus, self.mb = (  # NaN where one is unknown
            np.bincount(job_of, weights=numbers[name][last_of_part]) for name in ("gpus", "cpus", "mb")
        )


def number_of(value: Any) -> float:
    """A number, also as text or as Slurm's {"set": true, "number": 5}; NaN for others."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return found if abs(found) < MAX_NUMBER else math.nan
