"""Delimited text in portions of columns; problems of the structure are refused, of rows reported.

A row is a line: no cell holds a line end. Otherwise two stray quotes would swallow the rows between them.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from twin.traces.importing.drafts import ImportRefused, ReadOptions, Skipped, Source
from twin.traces.importing.reading import AS_STATED, Reading

PORTION = 20_000  # rows
DELIMITERS = ",\t;|"


def header(head: bytes, mark: str | None = None) -> list[str]:
    """The cells of the first line."""
    first = head.splitlines()[0].decode("utf-8", "replace") if head.splitlines() else ""
    try:
        return [cell.strip() for cell in next(csv.reader([first], delimiter=mark or delimiter(head)), [])]
    except csv.Error:  # a cell beyond every measure
        return []


def delimiter(head: bytes) -> str:
    """Delimiter of the cells of the first line."""
    first = head.splitlines()[0] if head.splitlines() else b""
    return max(DELIMITERS, key=lambda mark: first.count(mark.encode()))


def closeness(cells: Sequence[str], wanted: Sequence[str]) -> tuple[bool, str, float]:
    """(fits, what is missing, share of the wanted columns) for a sniff."""
    missing = [name for name in wanted if name not in cells]
    share = 1 - len(missing) / len(wanted)
    return not missing, f"the column {missing[0]!r} is missing" if missing else "the header fits", share


class Portion:
    """Rows that have all wanted cells. lines: where each begins (the header is line 1); columns: stripped text."""

    def __init__(
        self, lines: NDArray[np.int64], cells: Mapping[str, Sequence[str]], reading: Reading = AS_STATED
    ) -> None:
        self.lines = lines
        self.columns = _Stripped(cells)
        self.reading = reading

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Finite numbers, NaN where the cell is none; "nan" and "inf" are none."""
        values = as_floats(self.columns.cells[name])
        return np.where(np.abs(values) < math.inf, values, math.nan)

    def milliseconds(self, name: str) -> NDArray[np.float64]:
        """`YYYY-MM-DD HH:MM:SS` as ms since 1970, NaN where the cell is no such time."""
        import pandas as pd

        cells = pd.Series(self.columns[name], dtype=object)
        stamps = pd.to_datetime(cells, format="%Y-%m-%d %H:%M:%S", errors="coerce")
        values = stamps.to_numpy().astype("datetime64[ms]")
        return self.reading.utc(np.where(np.isnat(values), math.nan, values.astype(np.int64)))

    def sift(self, skipped: Skipped, reasons: Sequence[tuple[str, NDArray[Any], str]]) -> NDArray[np.bool_]:
        """Good rows; the others are reported with their first reason and the cell of that column."""
        good = np.ones(len(self.lines), dtype=bool)
        for reason, bad, column in reasons:
            for row in np.flatnonzero(good & bad).tolist():
                skipped.add(int(self.lines[row]), reason, self.columns[column][row])
            good &= ~bad
        return good


class _Stripped(Mapping[str, list[str]]):
    """Columns of cells without the blanks around them, made when they are asked for."""

    def __init__(self, cells: Mapping[str, Sequence[str]]) -> None:
        self.cells = cells
        self.made: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> list[str]:
        if name not in self.made:
            self.made[name] = [text.strip() for text in self.cells[name]]
        return self.made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.cells

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


def as_floats(cells: Sequence[str]) -> NDArray[np.float64]:
    """Numbers of the cells, exactly as Python reads them (1_000 too); NaN for other texts."""
    try:
        return np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        return np.fromiter(map(_as_float, cells), float, len(cells))


def _as_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def positions(source: Source, wanted: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Positions of the wanted columns; ImportRefused if one is missing or occurs twice."""
    fits, why, _ = closeness(columns, wanted)
    if not fits:
        raise ImportRefused(f"{source.name}: line 1: {why}; needed: {','.join(wanted)}")
    twice = [name for name in wanted if columns.count(name) > 1]
    if twice:
        raise ImportRefused(f"{source.name}: line 1: the column {twice[0]!r} occurs {columns.count(twice[0])} times")
    return [columns.index(name) for name in wanted]


class Table:
    """A file of delimited cells. Cells of unknown columns are ignored; `rows` counts what has been read.

    names: the columns of a file without a header line; otherwise the first line has them.
    """

    def __init__(
        self, source: Source, wanted: Sequence[str], skipped: Skipped, options: ReadOptions,
        names: Sequence[str] | None = None, mark: str | None = None,
    ) -> None:  # fmt: skip
        self.source, self.wanted, self.skipped, self.options = source, wanted, skipped, options
        self.rows = 0
        self.headed = names is None
        self.delimiter = mark or delimiter(source.head)
        columns = header(source.head, self.delimiter) if names is None else list(names)
        self.width, self.places = len(columns), positions(source, wanted, columns)

    def portions(self) -> Iterator[Portion]:
        """Rows; those with too few or too many cells go to `skipped`."""
        self.skipped.file = self.source.name
        lines: list[int] = []
        cells: list[list[str]] = []
        for line, row in self._records():
            lines.append(line)
            cells.append(row)
            if len(cells) == PORTION:
                self.options.tick(self.source.share(self.source.stream.tell()))
                yield self._portion(lines, cells)
                lines, cells = [], []
        if cells:
            yield self._portion(lines, cells)

    def _portion(self, lines: list[int], cells: list[list[str]]) -> Portion:
        least = max(self.places) + 1
        if any(len(row) != self.width for row in cells):
            cells = [row[:least] for row in cells]
        whole = list(zip(*cells, strict=True))
        return Portion(
            np.array(lines, dtype=np.int64),
            {name: whole[at] for name, at in zip(self.wanted, self.places, strict=True)},
            self.options.reading,
        )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        least = max(self.places) + 1
        heading = self.headed
        for line, row in self._rows():
            if heading and isinstance(row, csv.Error):
                raise ImportRefused(
                    f"{self.source.name}: line {line}: a cell is not terminated; check for an unclosed quote ({row})"
                )
            if heading or row == []:  # the names, or a blank line
                heading = False
                self.options.others.count += 1
                continue
            self.rows += 1
            if isinstance(row, csv.Error):
                self.skipped.add(line, "unreadable_quotes", row)
            elif len(row) < least:
                self.skipped.add(line, "too_few_cells", f"{len(row)} of {self.width}")
            elif len(row) > self.width and any(row[self.width :]):
                self.skipped.add(line, "too_many_cells", f"{len(row)} of {self.width}")
            else:
                yield line, row

    def _rows(self) -> Iterator[tuple[int, list[str] | csv.Error]]:
        """Number of each line, and its cells, or the fault of its quotes."""
        self.source.stream.seek(0)
        text = io.TextIOWrapper(cast(io.BytesIO, self.source.stream), encoding="utf-8", newline="")
        lines = _Lines(text)
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True, skipinitialspace=True)
        while True:
            lines.given = False
            try:
                yield lines.number + 1, next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                yield lines.number, error
        text.detach()


class _Lines(Iterator[str]):
    """Lines, one for each row: where a quote is left open, the row ends with its line."""

    def __init__(self, text: Iterator[str]) -> None:
        self.text, self.number, self.given = text, 0, False

    def __next__(self) -> str:
        if self.given:
            raise StopIteration
        line = next(self.text)
        self.number, self.given = self.number + 1, True
        return line
