"""The state of the twin's processes, its database and its disk: taken once, and told of many runs."""

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
    disk_full: str = ""  # the sentence that says so


def take() -> Vitals:
    """Vitals from the bus, and the disk of this host."""
    processes = heartbeat.processes()
    return Vitals(processes, database.locked_since() if processes is not None else None, disk.full() or "")
