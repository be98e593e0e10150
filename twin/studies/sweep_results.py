"""Results of sweeps: points with their metrics, whether these can be ranked, and both as a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduling.reporting.metric_table import BY_KEY, value_of
from twin.analysis.comparability import models_of, named
from twin.analysis.measured_alike import Measured, difference
from twin.files.outputs import cell
from twin.models import Run, Sweep
from twin.scenarios.edits import verbs
from twin.studies import axis_titles
from twin.studies.sweeps import column_of, status_of

METRICS = (  # keys of the table of metrics
    "total_utility", "completed", "rejected", "mean_jct_ms", "median_jct_ms", "p95_jct_ms", "makespan_ms",
    "suspensions", "utilization.gpu", "utilization.cpu", "lanes.mean_slowdown", "lanes.mean_busy",
    "groups.cpu_utilization", "groups.net_utilization", "groups.regroupings", "groups.moves",
)  # fmt: skip


def points_of(sweep: Sweep) -> list[dict[str, Any]]:
    """Points: {place, seed, run, status, figures: {name: number or None}}."""
    points = sweep.points.select_related("run").defer("run__certificate_prices")
    return [
        {
            "place": point.place, "seed": point.seed, "run": point.run_id,
            "status": status_of(point),
            "figures": {key: value_of(point.run.metrics, key) for key in METRICS}
            if point.run and point.run.status == Run.FINISHED else {},
        }
        for point in points
    ]  # fmt: skip


def figures_of(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys of the metrics that some finished run has; all of them before the first one."""
    found = [key for key in METRICS if any(point["figures"].get(key) is not None for point in points)]
    return found or list(METRICS)


def unranked_figures(sweep: Sweep, figures: Sequence[str]) -> dict[str, str]:
    """Reason by the key of each metric that the points measure in different ways, as edits of an axis make them."""
    deciding = [i for i, axis in enumerate(sweep.axes) if "verb" in axis]
    if not deciding:
        return {}
    points = sweep.points.select_related("run__scenario__trace", "run__scenario__cluster")
    one_of_each = {tuple(point.place[i] for i in deciding): point.run for point in points if point.run is not None}
    measured = [Measured(run) for run in one_of_each.values()]
    found = {}
    for key in figures:
        reasons = ((one.run.pk, difference(key, one, measured[0])) for one in measured[1:])
        run, why = next(((run, why) for run, why in reasons if why), (None, None))
        if why:
            found[key] = f"{BY_KEY[key].title} is not ranked. Run {run}: {why}."
    return found


def unranked(sweep: Sweep) -> str | None:
    """Reason why metrics of the points cannot be ranked, or None: an axis changes the jobs or their training."""
    of_jobs = [
        f"“{axis_titles.title(axis, sweep.scenario.scheduler)}”"
        for axis in sweep.axes
        if "verb" in axis and (verb := verbs().get(axis["verb"])) and verb.of_jobs
    ]
    if of_jobs:
        changes = "changes" if len(of_jobs) == 1 else "change"
        return f"{' and '.join(of_jobs)} {changes} the jobs of the points, so their metrics are not ranked."
    deciding = [
        i
        for i, axis in enumerate(sweep.axes)
        if axis.get("parameter") == "model" or axis.get("verb") == "change_scheduler"
    ]
    if not deciding:
        return None
    one_of_each = {
        tuple(point.place[i] for i in deciding): point for point in sweep.points.select_related("run__scenario")
    }
    found = sorted({models_of(point.run) for point in one_of_each.values() if point.run is not None})
    if len(found) < 2:
        return None
    models = "; ".join(map(named, found))
    return (
        f"Some points have different execution models: {models}. The same job has different "
        "durations there, so metrics are not ranked."
    )


def as_csv(sweep: Sweep) -> Iterable[str]:
    """Rows, one per point: the value on each axis, the seed, the run, its status and its metrics."""
    points = points_of(sweep)
    figures = figures_of(points)
    yield _line([*map(column_of, sweep.axes), "seed", "run", "status", *figures])
    for point in points:
        values = [axis["values"][i] for axis, i in zip(sweep.axes, point["place"], strict=True)]
        yield _line(
            [
                *values,
                point["seed"],
                point["run"],
                point["status"],
                *(point["figures"].get(name, "") for name in figures),
            ]
        )


def _line(cells: Sequence[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(
        ["" if value is None else cell(value) if isinstance(value, str) else value for value in cells]
    )
    return out.getvalue()
