"""Plain lines in portions, for formats whose volume or shape a CSV reader does not suit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.traces.importing.drafts import ImportRefused, ReadOptions, Source

PORTION = 50_000  # lines
BLOCK = 1024 * 1024
MAX_BYTES = 1024 * 1024  # bytes of a line


def portions(source: Source, options: ReadOptions) -> Iterator[tuple[int, list[bytes]]]:
    """(number of the first line, lines without their ends), at most PORTION lines at a time.

    Progress is reported in between.
    """
    source.stream.seek(0)
    number, lines, rest = 1, list[bytes](), b""
    while block := source.stream.read(BLOCK):
        found = (rest + block).split(b"\n")
        rest = found.pop()
        lines += found
        if len(rest) > MAX_BYTES:
            raise ImportRefused(
                f"{source.name}: line {number + len(lines)}: longer than {MAX_BYTES:,} bytes; this is not a table"
            )
        while len(lines) >= PORTION:
            options.tick(source.share(source.stream.tell()))
            yield number, lines[:PORTION]
            number, lines = number + PORTION, lines[PORTION:]
    if rest:
        lines.append(rest)
    if lines:
        options.tick(source.share(source.stream.tell()))
        yield number, lines


def first_lines(head: bytes, most: int = 20) -> list[bytes]:
    """The first lines of a file that hold something and are whole."""
    lines = head.splitlines()
    if len(lines) > 1 and len(head) >= 64 * 1024 and not head.endswith(b"\n"):
        lines.pop()
    return [line for line in lines if line.strip()][:most]


def floats(column: Any) -> NDArray[np.float64]:
    """A column of a data frame as finite numbers, NaN where a cell is none."""
    import pandas as pd

    if (
        column.dtype.kind not in "if"
    ):  # as text: pandas makes integers of any length of other columns, and fails on them
        column = pd.to_numeric(column.astype(str), errors="coerce")
    values = np.asarray(column, dtype=float)
    return np.where(np.abs(values) < np.inf, values, np.nan)
