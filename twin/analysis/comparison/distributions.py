"""Distributions of JCT, delay factor and utility: one quantile curve per run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from scheduling.reporting.metric_table import BY_KEY
from twin.analysis.comparison.outcomes import Outcomes

SHARES = np.linspace(0, 1, 101)
SPREAD = (  # keys of the table of metrics, and over which jobs
    ("jct_ms", "of completed jobs"), ("delay_factor", "of completed jobs"),
    ("utility", "of jobs that have arrived, 0 until completed"),
)  # fmt: skip

# a curve without jobs: of utility, where no run has any
NOTHING: dict[str, Any] = {"jobs": 0, "values": []}


def distributions(runs: list[tuple[Outcomes, np.ndarray]]) -> list[dict[str, Any]]:
    """[{..., of, curves: [{jobs, values}]}] of the metrics of jobs: values[i] is not exceeded by i % of the run's jobs.

    runs: each with the indexes of its shared jobs.
    """
    any_utility = any(outcomes.utility[rows].any() for outcomes, rows in runs)
    return [
        asdict(BY_KEY[key])
        | {"of": of, "curves": [_curve(key, *run) if key != "utility" or any_utility else NOTHING for run in runs]}
        for key, of in SPREAD
    ]


def _curve(key: str, outcomes: Outcomes, rows: np.ndarray) -> dict[str, Any]:
    worth = np.where(outcomes.arrived_ms >= 0, outcomes.utility, np.nan)
    values = {"jct_ms": outcomes.jct_ms, "delay_factor": outcomes.delay_factor, "utility": worth}[key]
    values = values[rows]
    values = values[~np.isnan(values)]
    curve = [float(f"{value:.6g}") for value in np.quantile(values, SHARES)] if len(values) else []
    return {"jobs": len(values), "values": curve}
