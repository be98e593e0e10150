"""Bars of the Gantt, and the columns of arrays: of bars, int64 [bar, 9], in the order of the fields of Placement; and
of the times of jobs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

NONE = -1  # a column that does not apply: no worker, no chunk, no group, no server
CLOUD = -2  # the unlimited cloud as a server (reserved name: "cloud")


class Role(IntEnum):
    """Role of a bar."""

    WORKER = 0
    PS = 1
    TRANSFER = 2  # a gang loading its data on new servers
    SUSPENDED = 3  # a worker of a suspended job of a real cluster, which keeps everything but its CPUs


class Placement(NamedTuple):
    """Gantt bar: `count` units of a job's role on a server during ``[start_ms, end_ms)``.

    A NamedTuple, not a dataclass: a run holds up to a million, and creation is 5 times cheaper. Its rules (0 <= start
    < end, count >= 1, known job and server) are checked by the ledger, which every plan passes.
    """

    job: int  # index
    role: int  # Role
    server: int  # index, CLOUD, or NONE where the group says it
    start_ms: int
    end_ms: int
    count: int  # type: ignore[assignment]  # workers or parameter servers; the field hides the method `count` of tuples
    worker_slot: int = NONE
    chunk: int = NONE
    group: int = NONE


WIDTH = len(Placement._fields)
# Their names in logs, files, frames and the API, where a worker slot is still called `lane` (docs/decisions/0025).
STORED_NAMES = tuple({"worker_slot": "lane"}.get(name, name) for name in Placement._fields)
JOB, ROLE, SERVER, START, END, COUNT, WORKER_SLOT, CHUNK, GROUP = range(WIDTH)
FIRST_START, FINISH = 1, 2  # columns of the jobs of a plan of workers, after the job
