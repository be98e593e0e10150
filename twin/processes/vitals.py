"""State of the twin's processes, database and disk, read once for many runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from twin.infra import database, disk
from twin.processes import heartbeat
from twin.processes.heartbeat import Process


@dataclass(frozen=True)
class Vitals:
    """State of the twin at one time."""

    processes: Sequence[Process] | None  # None: the broker does not answer
    locked_since: datetime | None = None  # the database
    disk_full: str = ""  # sentence about a full disk


def take() -> Vitals:
    """Vitals from the bus, and the disk of this host."""
    processes = heartbeat.processes()
    return Vitals(processes, database.locked_since() if processes is not None else None, disk.full() or "")
