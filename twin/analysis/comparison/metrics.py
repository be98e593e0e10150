"""The metrics of a run at an instant, from its folded state, and which of two values is better.

The formulas of metrics that every run has are in scheduling/reporting/run_metrics.py, also for the end of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isclose
from typing import Any

import numpy as np

from scheduling.model.bars import END, START
from scheduling.model.values import RESOURCES, Cluster, Job
from scheduling.reporting.metric_table import HIGHER, value_of
from scheduling.reporting.quantities import value_text
from scheduling.reporting.run_metrics import Known, Packed, run_metrics
from twin.analysis.comparability import BY_TRAINING, NOT_RECORDED, recorded
from twin.analysis.comparison.outcomes import Outcomes
from twin.files.stored_jobs import any_utility, objects_of, sizes_of_jobs

ALIKE = 0.001  # relative difference of values that are the same if they are also displayed alike
DUST = 1e-9  # of sums in another order, beside the relative one of isclose
OF_GROUPS = ("groups.cpu_utilization", "groups.net_utilization")  # known of a whole run only
COMPARED = (  # keys of the table of metrics, in the order of the rows
    "total_utility", "certificate_ratio", "jobs", "admitted", "rejected", "completed", "mean_jct_ms", "median_jct_ms",
    "p95_jct_ms", "common_jct_ms", "lanes.mean_slowdown", "mean_delay_factor", "mean_wait_ms", "makespan_ms",
    "suspensions", "preemptions", *(f"utilization.{name}" for name in RESOURCES), *OF_GROUPS,
    "decision_p95_ms",
)  # fmt: skip


def metrics_of(
    outcomes: Outcomes, bars: np.ndarray, clusters: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], until_ms: int,
    common: np.ndarray, packed: Packed,
) -> dict[str, Any]:  # fmt: skip
    """Metrics from the log, {key: value or None}.

    bars: those believed at the instant; common: indexes of the jobs that all runs have completed; packed: resources
    with a utilization.
    """
    done, arrived, jct = outcomes.completed_ms >= 0, outcomes.arrived_ms >= 0, outcomes.jct_ms
    bars = bars[bars[:, START] < until_ms].copy()
    bars[:, END] = np.minimum(bars[:, END], until_ms)
    known = Known(
        float(outcomes.utility.sum()) if any_utility(jobs) else None,
        int(outcomes.admitted.sum()), int(outcomes.rejected.sum()),
        outcomes.arrived_ms[arrived], outcomes.completed_ms[done], jct[done],
        int(outcomes.suspensions.sum()), bars, sizes_of_jobs(jobs),
    )  # fmt: skip
    found = run_metrics(known, clusters, packed)
    utilization = found.pop("utilization")
    return found | {
        "common_jct_ms": mean(jct[common]),
        "mean_delay_factor": mean(outcomes.delay_factor),
        "mean_wait_ms": mean(outcomes.wait_ms),
        "preemptions": int(outcomes.preemptions.sum()),
        **{f"utilization.{name}": share for name, share in utilization.items()},
    }


def slowdown(
    outcomes: Outcomes, clusters: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], models: Sequence[str]
) -> dict[str, float | None]:
    """{lanes.mean_slowdown} as in the metrics of a run: only with one model, and jobs' times alone known."""
    model = BY_TRAINING.get(models[0]) if len(models) == 1 else None
    done, jct = np.flatnonzero(outcomes.completed_ms >= 0).tolist(), outcomes.jct_ms
    times_ms = {job: int(jct[job]) for job in done}
    known = None if model is None else model.mean_slowdown(clusters, partial(objects_of, jobs), times_ms)
    return {"lanes.mean_slowdown": known}


def unknown(models: Sequence[str]) -> dict[str, None]:
    """Metrics that a run of these models does not have."""
    return dict.fromkeys(NOT_RECORDED) if recorded(models) else {}


def stored_metrics(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics from those stored with a finished run, as far as available."""
    return {key: value_of(metrics, key) for key in COMPARED}


def against(
    values: Sequence[float | None], direction: str | None, unit: str = "", ranked: Sequence[bool] | None = None
) -> list[dict[str, Any]]:
    """Comparison with the first value: {value, delta, relative, verdict: better | worse | same | None, best, ranked}.

    ranked: whether a value can be compared with the first; others are shown without a verdict, unless neither direction
    is better. Values that are displayed alike and nearly equal are the same, also where neither direction is better. No
    value is the best while one that could be better is unknown.
    """
    ranked = [True] * len(values) if ranked is None or direction is None else ranked
    known = [v for v, can in zip(values, ranked, strict=True) if can and v is not None]
    best = None
    unknown = any(can and v is None for v, can in zip(values, ranked, strict=True))
    if direction is not None and known and not unknown and not _equal(max(known), min(known), unit):
        best = max(known) if direction == HIGHER else min(known)
    return [
        _cell(value, values[0] if can else None, direction, unit)
        | {"best": best is not None and can and _equal(value, best, unit), "ranked": can}
        for value, can in zip(values, ranked, strict=True)
    ]


def _cell(value: float | None, base: float | None, direction: str | None, unit: str) -> dict[str, Any]:
    """Comparison of a value with the baseline."""
    if value is None or base is None:
        return {"value": value, "delta": None, "relative": None, "verdict": None}
    delta, verdict = value - base, None
    if _equal(value, base, unit):
        verdict = "same"
    elif direction is not None:
        verdict = "better" if (delta > 0) == (direction == HIGHER) else "worse"
    return {"value": value, "delta": delta, "relative": delta / abs(base) if base else None, "verdict": verdict}


def _equal(value: float | None, other: float, unit: str) -> bool:
    """True if the two are displayed alike and differ by at most ALIKE, or only by rounding errors.

    The text alone does not decide: "1d 11h" covers up to an hour.
    """
    if value is None or isclose(value, other, abs_tol=DUST):
        return value is not None
    return isclose(value, other, rel_tol=ALIKE) and value_text(value, unit) == value_text(other, unit)


def mean(values: np.ndarray) -> float | None:
    """Mean of the values that are not NaN; None without any."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
