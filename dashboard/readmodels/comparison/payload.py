"""Response of GET /api/compare/: runs, notes, metrics, distributions, counts of differences, divergences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dashboard.readmodels.comparison.cached import compared
from dashboard.readmodels.comparison.job_differences import difference_counts
from dashboard.readmodels.comparison.notes import notes_of, notes_of_lost
from dashboard.readmodels.comparison.ranked_cells import Reasons, reasons_of
from dashboard.readmodels.comparison.time_origin import common_start
from scheduling.reporting.metric_table import BY_KEY, Metric, value_of
from twin.analysis.changed_jobs import Changes, changes
from twin.analysis.comparability import Basis, basis_of, rankable
from twin.analysis.comparison import MAX_IN_FULL, MAX_RUNS, Compared, Side
from twin.analysis.comparison.breakdowns import BREAKDOWN_METRICS
from twin.analysis.comparison.decision_text import decision_pair
from twin.analysis.comparison.differences import DIFFERENCE_TYPES
from twin.analysis.comparison.metrics import COMPARED, OF_GROUPS, against, stored_metrics
from twin.analysis.comparison.outcomes import FOREVER
from twin.analysis.measured_alike import Measured
from twin.analysis.proved_shares import Share, shares
from twin.analysis.speed_origins import note_of_runs
from twin.files.stored_jobs import some_of
from twin.models import Run
from twin.runs import scheduler_history
from twin.scenarios import store
from twin.scenarios.edits import parse


def payload(runs: Sequence[Run], lost: Sequence[str] = ()) -> dict[str, Any]:
    """Response of GET /api/compare/. lost: sentences about runs of the list that no longer exist."""
    found = compared(runs)
    listed = [_stored(run, found.until_ms) for run in runs[MAX_IN_FULL:]]
    values = [
        (metrics if run.last_seq else {}) | _measured(run, share, found.until_ms)
        for run, share, metrics in zip(runs, shares(runs), [*found.metrics, *listed], strict=True)
    ]
    bases = [basis_of(run) for run in runs]
    changed = _changes(runs, found, bases)
    measured = [Measured(run) for run in runs]
    return {
        "runs": [_run(run) | {"from_ms": basis.from_ms} for run, basis in zip(runs, bases, strict=True)],
        "most": {"runs": MAX_RUNS, "in_full": MAX_IN_FULL},
        "in_full": [side.run_id for side in found.sides],
        "at_ms": None if found.until_ms == FOREVER else found.until_ms,
        "began_at": common_start(runs),
        "shared": {
            "jobs": len(found.rows[0]),
            "of": [len(side.jobs) for side in found.sides],
            "same_trace": all(found.same_trace),
        },
        "notes": [*notes_of_lost(runs, lost), *notes_of(runs, found, bases, changed)],
        "speeds": note_of_runs({run.pk: store.of_run(run)[1] for run in runs}),
        "metrics": [_metric(BY_KEY[key], values, reasons_of(key, measured, values, changed)) for key in COMPARED],
        "distributions": found.distributions,
        "kinds": DIFFERENCE_TYPES,
        "differences": [difference_counts(found, which) for which in range(1, len(found.sides))],
        "divergences": [_divergence(runs, found, i) for i in range(1, len(found.sides))],
        "groups": found.breakdowns,
        "grouped": BREAKDOWN_METRICS,
    }


def _changes(runs: Sequence[Run], found: Compared, bases: Sequence[Basis]) -> list[Changes | None]:
    """Changes of the jobs of each run against the first; None where no metric can be ranked."""
    jobs = store.of_run(runs[0])[1] if len(runs) > len(found.sides) else ()
    listed = [
        changes(jobs, store.of_run(run)[1], (bases[0].slot_ms, basis.slot_ms)) if rankable(basis, bases[0]) else None
        for run, basis in zip(runs[len(found.sides) :], bases[len(found.sides) :], strict=True)
    ]
    return [*found.changes, *listed]


def _metric(metric: Metric, values: Sequence[Mapping[str, Any]], reasons: Sequence[Reasons]) -> dict[str, Any]:
    """Row of the table: the value of each run, compared with the first where both can be ranked."""
    about = [row.get(f"{metric.key}_about") for row in values]
    why = [row.get(f"{metric.key}_why") or own.why for row, own in zip(values, reasons, strict=True)]
    ranked = [own.ranked for own in reasons]
    cells = against([row.get(metric.key) for row in values], metric.direction, metric.unit, ranked)
    return asdict(metric) | {
        "values": [
            cell | ({"about": what} if what else {}) | ({"why": reason} if reason else {})
            for cell, what, reason in zip(cells, about, why, strict=True)
        ]
    }


def _stored(run: Run, until_ms: int) -> dict[str, Any]:
    """Stored metrics of a run that is not compared in full; none if it ended after the time that is compared."""
    return stored_metrics(run.metrics) if run.status == Run.FINISHED and run.sim_ms <= until_ms else {}


def _measured(run: Run, share: Share, until_ms: int) -> dict[str, Any]:
    """Metrics of a finished run that are not in the log."""
    if run.status != Run.FINISHED or until_ms != FOREVER:
        return {}
    return {
        "certificate_ratio": share.ratio, "certificate_ratio_about": share.about,
        "certificate_ratio_ranked": share.ranked, "certificate_ratio_why": share.why,
        "decision_p95_ms": run.decision_ms.get("p95"), **{key: value_of(run.metrics, key) for key in OF_GROUPS},
    }  # fmt: skip


def _run(run: Run) -> dict[str, Any]:
    scenario = run.scenario
    return {
        "id": run.pk, "name": scenario.name, "scheduler": scheduler_history.current(run).name,
        "title": scheduler_history.words_of(run), "parameters": scheduler_history.current_parameters(run),
        "seed": scenario.seed, "trace": scenario.trace.name, "trace_id": scenario.trace_id,
        "cluster": scenario.cluster.name, "cluster_id": scenario.cluster_id, "mode": run.mode,
        "status": run.status, "sim_ms": run.sim_ms, "begun": run.last_seq > 0, "message": run.message,
        "edits": [edit.sentence() for edit in parse(run.edits, run.epoch_ms)],
    }  # fmt: skip


def _divergence(runs: Sequence[Run], found: Compared, which: int) -> dict[str, Any]:
    """First divergence of one run from the base, with both decisions as text."""
    base, other, divergence = found.sides[0], found.sides[which], found.divergences[which]
    if divergence is None:
        return {
            "run": other.run_id,
            "at_ms": None,
            "why": None if found.same_trace[which] else _other_trace(base, other),
        }
    mine, yours = int(found.rows[0][divergence.job]), int(found.rows[which][divergence.job])
    (job,) = some_of(base.jobs, [mine])
    decided = decision_pair((runs[0], runs[which]), (base, other), (mine, yours), divergence.at_ms, found.until_ms)
    return {
        "run": other.run_id, "at_ms": divergence.at_ms, "job": job.id, "model": job.model,
        "index": [mine, yours], "jobs": divergence.jobs, "same_before": divergence.same,
        "base": decided[0], "other": decided[1],
    }  # fmt: skip


def _other_trace(base: Side, other: Side) -> str:
    return (
        f"Runs {base.run_id} and {other.run_id} have different traces. Jobs with the same id are different jobs, "
        "so their decisions are not compared."
    )
