"""Bars of plans of workers, as rows of Placement."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduling.model.bars import END, FINISH, FIRST_START, NONE, START, Placement
from scheduling.model.decision import WorkerPlan
from scheduling.typed_workers.haprf import NEVER


def table(rows: Any, width: int) -> np.ndarray:
    """int64 [row, width], also of no rows."""
    return np.array(list(rows), dtype=np.int64).reshape(-1, width)


def bars(
    job: np.ndarray, role: int, server: Any, start_ms: Any, end_ms: Any, worker_slot: Any, chunk: Any
) -> np.ndarray:
    """Bars, one per given job, in the column order of Placement; the other columns can be single numbers."""
    out = np.empty((len(job), len(Placement._fields)), dtype=np.int64)
    for place, column in enumerate((job, role, server, start_ms, end_ms, 1, worker_slot, chunk, NONE)):
        out[:, place] = column
    return out


def clipped(
    horizon_ms: int, worker_slots: np.ndarray, rows: np.ndarray, jobs: list[tuple[int, int, int]]
) -> WorkerPlan:
    """Plan cut at the horizon. jobs: (job, start, finish) where start or finish changes."""
    times = table(jobs, 3)
    if horizon_ms < NEVER:
        rows = rows[rows[:, START] < horizon_ms].copy()
        rows[:, END] = np.minimum(rows[:, END], horizon_ms)
        times[times[:, FIRST_START] >= horizon_ms, FIRST_START] = NONE
        times[times[:, FINISH] > horizon_ms, FINISH] = NONE
    return WorkerPlan(worker_slots.astype(np.int64), rows, times)
