"""Columns of an array of bars, int64 [bar, 9]: the fields of Placement in their order."""

from __future__ import annotations

from scheduling.model.values import Placement

WIDTH = len(Placement._fields)
JOB, ROLE, SERVER, START, END, COUNT, WORKER_SLOT, CHUNK, GROUP = range(WIDTH)
