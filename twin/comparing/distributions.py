"""How JCT, slowdown and utility are spread: quantile curves, one a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.comparing.lives import Lives

SHARES = np.linspace(0, 1, 101)
KINDS = (
    ("jct", "JCT", "ms", "of completed jobs", "lower"),
    ("slowdown", "Slowdown", "x", "of completed jobs", "lower"),
    ("utility", "Utility", "", "of jobs that have arrived, 0 until completed", "higher"),
)


def distributions(runs: list[tuple[Lives, np.ndarray]]) -> list[dict[str, Any]]:
    """[{key, title, unit, of, better, curves: [{jobs, values}]}]: values[i] is not exceeded by i % of the run's jobs.

    runs: each with the indexes of its shared jobs.
    """
    return [
        {"key": key, "title": title, "unit": unit, "of": of, "better": better, "curves": [_curve(key, *run) for run in runs]}
        for key, title, unit, of, better in KINDS
    ]


def _curve(key: str, lives: Lives, rows: np.ndarray) -> dict[str, Any]:
    values = {"jct": lives.jct_ms, "slowdown": lives.slowdown, "utility": np.where(lives.arrived_ms >= 0, lives.utility, np.nan)}[
        key
    ]
    values = values[rows]
    values = values[~np.isnan(values)]
    if key == "utility" and not values.any():
        values = values[:0]  # nothing was earned, or the jobs are worth nothing: no curve of zeros
    curve = [float(f"{value:.6g}") for value in np.quantile(values, SHARES)] if len(values) else []
    return {"jobs": len(values), "values": curve}
