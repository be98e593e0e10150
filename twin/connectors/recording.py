"""Recordings of clusters: each snapshot as one line of JSON (`follow --record` writes them, replay.py plays them)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from twin.connectors.facts import ConnectorError, Snapshot
from twin.connectors.facts_json import dumps, loads

SUFFIX = ".jsonl"


def recorder(to: BinaryIO) -> Callable[[Snapshot], None]:
    """Writer of a recording: each snapshot becomes a line."""
    return lambda snapshot: to.writelines((dumps(snapshot), b"\n"))


def read(path: Path) -> Iterator[Snapshot]:
    """The snapshots of a file, or of all files .jsonl of a folder in the order of their names."""
    files = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not files:
        raise ConnectorError(
            f"the folder {path} has no recording: a recording is a file {SUFFIX} with one poll per line"
        )
    for file in files:
        yield from _lines(file)


def _lines(file: Path) -> Iterator[Snapshot]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield loads(Snapshot, line)
                    except ConnectorError as error:
                        raise ConnectorError(f"{file.name}, line {number}: {error}") from None
    except OSError as error:
        raise ConnectorError(f"the recording {file} cannot be read: {error.strerror}") from error
