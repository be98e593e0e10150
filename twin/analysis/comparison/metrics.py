"""The metrics of a run at an instant, and which of two values is better. At the end: reporting/metrics.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isclose
from typing import Any

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import RESOURCES, Cluster, Job, Role
from scheduling.reporting.metric_table import HIGHER, value_of
from scheduling.reporting.metrics import offered, shares, unavailable_ms
from scheduling.reporting.quantities import value_text
from twin.analysis.comparability import BY_TRAINING, recorded
from twin.analysis.comparison.outcomes import Outcomes
from twin.files.stored_jobs import any_utility, demands_by_role, objects_of

ALIKE = 0.001  # relative difference of values that are the same if they are also displayed alike
DUST = 1e-9  # of sums in another order, beside the relative one of isclose
OF_GROUPS = ("groups.cpu_utilization", "groups.net_utilization")  # known of a whole run only
COMPARED = (  # keys of the table of metrics, in the order of the rows
    "total_utility", "certificate_ratio", "jobs", "admitted", "rejected", "completed", "mean_jct_ms", "median_jct_ms",
    "p95_jct_ms", "common_jct_ms", "lanes.mean_slowdown", "mean_delay_factor", "mean_wait_ms", "makespan_ms",
    "suspensions", "preemptions", *(f"utilization.{name}" for name in RESOURCES), *OF_GROUPS,
    "decision_p95_ms",
)  # fmt: skip


def figures(
    outcomes: Outcomes, bars: np.ndarray, clusters: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], until_ms: int,
    common: np.ndarray, packed: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """Metrics from the log, {key: value or None}.

    bars: those believed at the instant; common: indexes of the jobs that all runs have completed; packed: resources
    with a utilization.
    """
    done = outcomes.completed_ms >= 0
    arrived = outcomes.arrived_ms >= 0
    jct = outcomes.jct_ms
    first_ms = int(outcomes.arrived_ms[arrived].min()) if arrived.any() else 0
    return {
        "total_utility": float(outcomes.utility.sum()) if any_utility(jobs) else None,
        "jobs": int(arrived.sum()),
        "admitted": int(outcomes.admitted.sum()),
        "rejected": int(outcomes.rejected.sum()),
        "completed": int(done.sum()),
        "mean_jct_ms": mean(jct),
        "median_jct_ms": float(np.median(jct[done])) if done.any() else None,
        "p95_jct_ms": float(np.percentile(jct[done], 95)) if done.any() else None,
        "common_jct_ms": mean(jct[common]),
        "mean_delay_factor": mean(outcomes.delay_factor),
        "mean_wait_ms": mean(outcomes.wait_ms),
        "makespan_ms": int(outcomes.completed_ms.max()) - first_ms if done.any() else None,
        "suspensions": int(outcomes.suspensions.sum()),
        "preemptions": int(outcomes.preemptions.sum()),
        **{
            f"utilization.{name}": share
            for name, share in _utilization(bars, clusters, jobs, first_ms, until_ms, packed).items()
        },
    }


def slowdown(
    outcomes: Outcomes, cluster: Cluster, jobs: Sequence[Job], models: Sequence[str]
) -> dict[str, float | None]:
    """{lanes.mean_slowdown} as in the metrics of a run: only with one model, and jobs' times alone known."""
    model = BY_TRAINING.get(models[0]) if len(models) == 1 else None
    done, jct = np.flatnonzero(outcomes.completed_ms >= 0).tolist(), outcomes.jct_ms
    times_ms = {job: int(jct[job]) for job in done}
    known = None if model is None else model.mean_slowdown(cluster, partial(objects_of, jobs), times_ms)
    return {"lanes.mean_slowdown": known}


def unknown(models: Sequence[str]) -> dict[str, None]:
    """Metrics that a run of these models does not have: a real cluster admits nothing and reports no preemptions."""
    return dict.fromkeys(("admitted", "preemptions")) if recorded(models) else {}


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


def _utilization(
    bars: np.ndarray,
    clusters: Sequence[tuple[int, Cluster]],
    jobs: Sequence[Job],
    first_ms: int,
    until_ms: int,
    packed: Sequence[str],
) -> dict[str, float | None]:
    """Share of capacity x time held from first_ms to the last bar's end or the instant, of available servers only."""
    bars = bars[(bars[:, SERVER] >= 0) & (bars[:, ROLE] != Role.TRANSFER) & (bars[:, START] < until_ms)]
    if not len(bars):
        return dict.fromkeys(RESOURCES)
    bars = bars.copy()
    bars[:, END] = np.minimum(bars[:, END], until_ms)
    last_ms = int(bars[:, END].max())
    time = (bars[:, COUNT] * (bars[:, END] - bars[:, START] - unavailable_ms(bars, clusters))).astype(float)
    held = np.zeros(len(RESOURCES))
    for role, demands in enumerate(demands_by_role(jobs)):
        of_role = bars[:, ROLE] == role
        held += np.bincount(bars[of_role, JOB], weights=time[of_role], minlength=len(jobs)) @ demands
    return shares(held, offered(clusters, first_ms, last_ms), packed)
