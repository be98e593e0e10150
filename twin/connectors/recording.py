"""Recording of a connector: each snapshot as one line of JSON, for tests and demonstrations (replay.py plays it)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from twin.connectors.base import Connector
from twin.connectors.facts import ConnectorError, Snapshot
from twin.connectors.facts_json import dumps, loads

SUFFIX = ".jsonl"


def record(connector: Connector, to: BinaryIO) -> Iterator[Snapshot]:
    """Snapshots of the connector, the first one and then its changes; each is written before it is passed on."""
    first = connector.snapshot()
    to.write(dumps(first) + b"\n")
    yield first
    for snapshot in connector.changes() or ():
        to.write(dumps(snapshot) + b"\n")
        yield snapshot


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
