"""The bars of plans of lanes, as rows of Placement."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduling.model import NONE, LanePlan, Placement
from scheduling.solvers.haprf import NEVER


def table(rows: Any, width: int) -> np.ndarray:
    """int64 [row, width], also of no rows."""
    return np.array(list(rows), dtype=np.int64).reshape(-1, width)


def bars(job: np.ndarray, role: int, server: Any, start_ms: Any, end_ms: Any, lane: Any, chunk: Any) -> np.ndarray:
    """One bar per job given, in the order of Placement; the other columns may be single numbers."""
    out = np.empty((len(job), len(Placement._fields)), dtype=np.int64)
    for place, column in enumerate((job, role, server, start_ms, end_ms, 1, lane, chunk, NONE)):
        out[:, place] = column
    return out


def clipped(horizon_ms: int, lanes: np.ndarray, rows: np.ndarray, jobs: list[tuple[int, int, int]]) -> LanePlan:
    """The plan without what lies behind the horizon. jobs: (job, start, finish) of each whose start or finish changes."""
    told = table(jobs, 3)
    if horizon_ms < NEVER:
        rows = rows[rows[:, 3] < horizon_ms].copy()
        rows[:, 4] = np.minimum(rows[:, 4], horizon_ms)
        told[told[:, 1] >= horizon_ms, 1] = NONE
        told[told[:, 2] > horizon_ms, 2] = NONE
    return LanePlan(lanes.astype(np.int64), rows, told)
