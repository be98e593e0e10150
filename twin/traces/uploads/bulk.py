"""Tables of millions of rows: Table at three times its speed, for cells without line ends.

A row with a quote, or with another number of cells than its header, is read by the csv module on its own.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

import numpy as np

from twin.traces.importing.drafts import ReadOptions, Skipped, Source
from twin.traces.uploads.lines import portions
from twin.traces.uploads.tables import Portion, header, positions

BATCH = 10_000  # rows of a portion: their cells stay in the processor's cache


class BulkTable:
    """A file of cells between one mark. names: its columns without a header line. `rows` counts what has been read."""

    def __init__(
        self,
        source: Source,
        wanted: Sequence[str],
        skipped: Skipped,
        options: ReadOptions,
        names: Sequence[str] | None = None,
        mark: str = ",",
    ) -> None:
        self.source, self.wanted, self.skipped, self.options = source, wanted, skipped, options
        self.rows, self.headed = 0, names is None
        self.mark = mark
        columns = header(source.head, mark) if names is None else list(names)
        self.width, self.places = len(columns), positions(source, wanted, columns)

    def portions(self) -> Iterator[Portion]:
        """Rows; those with too few or too many cells go to `skipped`."""
        self.skipped.file = self.source.name
        for number, lines in portions(self.source, self.options):
            first = 1 if self.headed and number == 1 else 0
            self.options.others.count += first
            for at in range(first, len(lines), BATCH):
                yield from self._batch(number + at, lines[at : at + BATCH])

    def _batch(self, number: int, lines: list[bytes]) -> Iterator[Portion]:
        """Batch of whole lines: all cells in one list, so that rows cost the garbage collector nothing."""
        text = b"\n".join(lines).decode("utf-8", "replace")
        numbers = np.arange(number, number + len(lines))
        cells: Sequence[str]
        mark = self.mark.encode()
        if '"' in text or any(line.count(mark) != self.width - 1 for line in lines):
            numbers, rows = self._mended(numbers, text.split("\n"))
            cells = [cell for row in rows for cell in row]
        else:
            cells = text.replace("\n", self.mark).split(self.mark)
        self.rows += len(numbers)
        if len(numbers):
            yield Portion(
                numbers,
                {name: cells[at :: self.width] for name, at in zip(self.wanted, self.places, strict=True)},
                self.options.reading,
            )

    def _mended(self, numbers: np.ndarray, lines: list[str]) -> tuple[np.ndarray, list[list[str]]]:
        """The rows that have all wanted cells, with their lines; blank lines are no rows."""
        kept, whole = [], []
        least = max(self.places) + 1
        for line, text in zip(numbers.tolist(), lines, strict=True):
            if not text.strip():
                self.options.others.count += 1
                continue
            try:
                cells = (
                    next(csv.reader([text], delimiter=self.mark, skipinitialspace=True, strict=True))
                    if '"' in text
                    else text.split(self.mark)
                )
            except csv.Error as error:
                self.rows += 1
                self.skipped.add(line, "unreadable_quotes", error)
                continue
            if len(cells) < least or (len(cells) > self.width and any(cells[self.width :])):
                self.rows += 1
                self.skipped.add(
                    line, "too_few_cells" if len(cells) < least else "too_many_cells", f"{len(cells)} of {self.width}"
                )
                continue
            kept.append(line)
            whole.append([*cells, *[""] * self.width][: self.width])
        return np.array(kept, dtype=np.int64), whole
