"""Events of Google cluster data 2011, read from its parts: rows are reduced portion by portion to small integers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.traces.importing.drafts import ReadOptions, Skipped, Source
from twin.traces.uploads.lines import floats, portions

JOB, TASK = 8, 13  # columns
# Columns of a part: time us, job id, event, scheduling class, user; then task index, cpu, ram, disk.
PLACES = {JOB: (0, 2, 3, 5, 4), TASK: (0, 2, 5, 7, 6, 3, 9, 10, 11)}
AFTER = 2**63 - 1  # a time after the end of the trace
LATEST_US = 100 * 366 * 86_400 * 1_000_000  # a century
LAST_EVENT = 8
UTILITY_TYPES = np.array([0, 1, 1, 2])  # scheduling class -> insensitive, sensitive, sensitive, critical


@dataclass
class Found:
    """Content of all parts.

    By job, in order of appearance: id, file and line of its first row, class, user, maximum of each request.

    events: {JOB or TASK: [(time of the part's first row, codes of jobs, task indices, times us, events)]}.
    """

    rows: int = 0
    good: int = 0  # rows that belong to a job
    codes: dict[int, int] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    file: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    user: list[str] = field(default_factory=list)
    request: NDArray[np.float64] = field(default_factory=lambda: np.full((0, 3), -1.0))
    events: dict[int, list[tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int8]]]] = (
        field(default_factory=lambda: {JOB: [], TASK: []})
    )


class Part:
    """File of events."""

    def __init__(self, source: Source, number: int, width: int, skipped: Skipped, found: Found) -> None:
        self.source, self.number, self.width, self.skipped, self.found = source, number, width, skipped, found
        self.begin: int | None = None  # time of the first row

    def read(self, options: ReadOptions) -> None:
        """Addition of all rows to what has been found."""
        self.skipped.file = self.source.name
        for first, lines in portions(self.source, options):
            cells = np.fromiter((line.count(b",") + 1 for line in lines), dtype=np.int64, count=len(lines))
            filled = np.fromiter((line != b"" for line in lines), dtype=bool, count=len(lines))
            self.found.rows += int(filled.sum())
            options.others.count += int((~filled).sum())
            numbers = first + np.arange(len(lines))
            for row in np.flatnonzero(filled & (cells != self.width)).tolist():
                reason = "too_few_cells" if cells[row] < self.width else "too_many_cells"
                self.skipped.add(int(numbers[row]), reason, f"{cells[row]} of {self.width}")
            whole = cells == self.width
            if not whole.all():
                lines, numbers = (
                    [line for line, good in zip(lines, whole.tolist(), strict=True) if good],
                    numbers[whole],
                )
            if lines:
                self._add(lines, numbers)

    def _add(self, lines: list[bytes], numbers: NDArray[np.int64]) -> None:
        """Rows that have all cells."""
        places = PLACES[self.width]
        columns = _columns(lines, places, self.width)
        (time, bad_time), (job, bad_job), (event, bad_event), (kind, bad_kind) = (
            _integers(columns[at]) for at in places[:4]
        )
        index, bad_index = (
            _integers(columns[places[5]])
            if self.width == TASK
            else (np.zeros_like(job), np.zeros(len(job), dtype=bool))
        )
        good = np.ones(len(lines), dtype=bool)
        for reason, bad, at in (
            ("unreadable_time", bad_time | (time < 0) | ((time > LATEST_US) & (time != AFTER)), places[0]),
            ("unreadable_job_id", bad_job | (job < 0), places[1]),
            ("unknown_status", bad_event | (event < 0) | (event > LAST_EVENT), places[2]),
            (
                "unreadable_task_index",
                bad_index | (index < 0) | (index >= 2**31),
                places[5 if self.width == TASK else 0],
            ),
        ):
            for row in np.flatnonzero(good & bad).tolist():
                self.skipped.add(int(numbers[row]), reason, lines[row].split(b",")[at].decode("utf-8", "replace"))
            good &= ~bad
        if not good.any():
            return
        kind = np.where(bad_kind | (kind < 0) | (kind >= len(UTILITY_TYPES)), -1, kind)
        job, time = job[good], time[good]
        codes = self._codes(job, numbers[good], kind[good], np.flatnonzero(good), columns[places[4]])
        self.begin = int(time[0]) if self.begin is None else self.begin
        self.found.good += len(job)
        part = (self.begin, codes, index[good].astype(np.int32), time, event[good].astype(np.int8))
        self.found.events[self.width].append(part)
        if self.width == TASK:
            for place, at in enumerate(places[6:]):
                share = _shares(columns[at])[good]
                np.maximum.at(self.found.request[:, place], codes, share)

    def _codes(self, job: NDArray, numbers: NDArray, kind: NDArray, rows: NDArray, users: Any) -> NDArray[np.int32]:
        """The code of each row's job; jobs not seen before are noted with this row."""
        found = self.found
        distinct, firsts, inverse = np.unique(job, return_index=True, return_inverse=True)
        known = np.empty(len(distinct), dtype=np.int32)
        for place in np.argsort(firsts).tolist():
            key, first = int(distinct[place]), int(firsts[place])
            code = found.codes.setdefault(key, len(found.ids))
            if code == len(found.ids):
                found.ids.append(key)
                found.file.append(self.number)
                found.line.append(int(numbers[first]))
                found.kind.append(int(kind[first]))
                found.user.append(_user(users.iat[int(rows[first])]))
            known[place] = code
        if len(found.request) < len(found.ids):
            found.request = np.concatenate([found.request, np.full((len(found.ids) - len(found.request), 3), -1.0)])
        return known[inverse]


def _columns(lines: list[bytes], places: Sequence[int], width: int) -> Any:
    """The cells of these places as a data frame. Whole numbers are int64 in every row, or text where one is none."""
    import pandas as pd

    data = io.BytesIO(b"\n".join(lines))
    whole = [*places[:4], *places[5:6]]
    text: dict[int, type] = {places[4]: str}
    for _ in range(2):
        data.seek(0)
        frame = pd.read_csv(
            data, header=None, names=range(width), usecols=sorted(places), dtype=text, quoting=3, keep_default_na=False,
            na_values=[""], skip_blank_lines=False, low_memory=False, lineterminator="\n",
        )  # fmt: skip
        if all(frame[at].dtype == np.int64 for at in whole):
            break
        text |= dict.fromkeys(whole, str)  # a float would not hold 64 bits
    return frame


def _integers(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(whole numbers, where there is none)."""
    if column.dtype == np.int64:
        return column.to_numpy(), np.zeros(len(column), dtype=bool)
    values = np.zeros(len(column), dtype=np.int64)
    bad = np.ones(len(column), dtype=bool)
    for row, cell in enumerate(column.tolist()):
        digits = cell.strip() if isinstance(cell, str) else ""
        if digits.isdigit() and digits.isascii() and len(digits) <= 19 and (number := int(digits)) <= AFTER:
            values[row], bad[row] = number, False
    return values, bad


def _shares(column: Any) -> NDArray[np.float64]:
    """Fractions of the largest machine; -1 where the cell is none."""
    values = floats(column)
    return np.where((values >= 0) & (values <= 1), values, -1.0)


def _user(cell: object) -> str:
    return cell.strip().strip('"')[:200] if isinstance(cell, str) else ""
