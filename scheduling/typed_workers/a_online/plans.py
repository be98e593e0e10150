"""Bars of plans of workers, as rows of Placement."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduling.model.bars import END, START
from scheduling.model.values import NONE, Placement, WorkerPlan
from scheduling.typed_workers.haprf import NEVER


def table(rows: Any, width: int) -> np.ndarray:
    """int64 [row, width], also of no rows."""
    return np.array(list(rows), dtype=np.int64).reshape(-1, width)


def bars(job: np.ndarray, role: int, server: Any, start_ms: Any, end_ms: Any, lane: Any, chunk: Any) -> np.ndarray:
    """Bars, one per given job, in the column order of Placement; the other columns can be single numbers."""
    out = np.empty((len(job), len(Placement._fields)), dtype=np.int64)
    for place, column in enumerate((job, role, server, start_ms, end_ms, 1, lane, chunk, NONE)):
        out[:, place] = column
    return out


def clipped(horizon_ms: int, lanes: np.ndarray, rows: np.ndarray, jobs: list[tuple[int, int, int]]) -> WorkerPlan:
    """Plan cut at the horizon. jobs: (job, start, finish) where start or finish changes."""
    times = table(jobs, 3)
    if horizon_ms < NEVER:
        rows = rows[rows[:, START] < horizon_ms].copy()
        rows[:, END] = np.minimum(rows[:, END], horizon_ms)
        times[times[:, 1] >= horizon_ms, 1] = NONE
        times[times[:, 2] > horizon_ms, 2] = NONE
    return WorkerPlan(lanes.astype(np.int64), rows, times)
