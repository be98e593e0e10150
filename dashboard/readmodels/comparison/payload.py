"""Comparison of runs for the compare page and its downloads; recent comparisons are cached in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from rest_framework.exceptions import NotFound

from dashboard.readmodels.job_table import number
from dashboard.readmodels.state_cache import Newest
from scheduling.model.values import Job, ModelError
from scheduling.reporting.metric_table import BY_KEY, Metric
from twin.analysis.comparability import Basis, basis_of, comparable, kin, named, rankable
from twin.analysis.comparison import MAX_DRAWN, MAX_RUNS, Compared, Side, common_instant, side_of
from twin.analysis.comparison.breakdowns import GROUPED
from twin.analysis.comparison.decision_text import decision_of
from twin.analysis.comparison.differences import BIT, KINDS, counts, life, names_of
from twin.analysis.comparison.metrics import COMPARED, against, stored_metrics
from twin.analysis.comparison.outcomes import FOREVER
from twin.analysis.proved_shares import Share, shares
from twin.files.job_table import field_of, some_of
from twin.files.outputs import cell
from twin.infra.columns import pack
from twin.infra.kept import KEPT
from twin.models import Run
from twin.runs import deleted, scheduler_history
from twin.scenarios import store
from twin.scenarios.edits.moments import moment

MAX_ROWS = 500
LARGE = (  # fields of the runs, traces and clusters that no comparison shows
    "certificate_prices", "scenario__trace__jobs", "scenario__trace__report", "scenario__trace__skipped_csv",
    "scenario__trace__preview", "scenario__trace__scan", "scenario__cluster__spec",
)  # fmt: skip
SORTS = ("index", "start", "finish", "jct", "utility")


class Listed(NamedTuple):
    """Existing runs of a list, in its order, and sentences about the missing ones."""

    runs: list[Run]
    lost: list[str]


def listed(text: str) -> Listed:
    """Runs of `1,2,3`; ModelError or NotFound state what is wrong with the list."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    wrong = [name for name in names if not (name.isdecimal() and len(name) <= 18)]
    if wrong:
        raise ModelError(f"runs must be numbers separated by commas, for example runs=1,2, got {wrong[0][:40]!r}")
    ids = [int(name) for name in names]
    if len(set(ids)) < len(ids):
        raise ModelError(
            f"a run cannot be compared with itself; run {next(i for i in ids if ids.count(i) > 1)} is listed twice"
        )
    if not 2 <= len(ids) <= MAX_RUNS:
        raise ModelError(
            f"compare takes 2 to {MAX_RUNS} runs, as in runs=1,2 (the first {MAX_DRAWN} in full), got {len(ids)}"
        )
    found = Run.objects.select_related("scenario", "scenario__trace", "scenario__cluster").defer(*LARGE).in_bulk(ids)
    lost = [
        str(deleted.what_was("run", i) or f"Run {i} does not exist; it may have been deleted.")
        for i in ids
        if i not in found
    ]
    runs = [found[i] for i in ids if i in found]
    if not runs:
        raise NotFound(" ".join(lost))
    if len(runs) > 1 and all(store.same(runs[0], run) for run in runs[1:]):
        *others, last = [run.pk for run in runs]
        raise ModelError(
            f"runs {', '.join(map(str, others))} and {last} have identical scenarios: the same "
            "cluster, trace, scheduler, parameters, "
            "seed and edits; edit one of them, or choose another run"
        )
    return Listed(runs, lost)


def compared(runs: Sequence[Run]) -> Compared:
    """Comparison of the first MAX_DRAWN runs, up to the time that all of these have reached."""
    drawn = runs[:MAX_DRAWN]
    until_ms = common_instant(drawn)
    key = (until_ms, *((run.pk, run.last_seq, run.status) for run in drawn))
    return KEPT.get(("compared", key), lambda: _read(drawn, until_ms))


def forget() -> None:
    """Clears the cache."""
    KEPT.clear("compared")


def payload(runs: Sequence[Run], lost: Sequence[str] = ()) -> dict[str, Any]:
    """Response of GET /api/compare/. lost: sentences about runs of the list that no longer exist."""
    found = compared(runs)
    values = [
        (figures if run.last_seq else {}) | _measured(run, share, found.until_ms)
        for run, share, figures in zip(
            runs, shares(runs), [*found.figures, *map(_stored, runs[MAX_DRAWN:])], strict=True
        )
    ]
    bases = [basis_of(run) for run in runs]
    ranked = [rankable(basis, bases[0]) for basis in bases]
    return {
        "runs": [_run(run) for run in runs],
        "most": {"runs": MAX_RUNS, "in_full": MAX_DRAWN},
        "in_full": [side.run_id for side in found.sides],
        "at_ms": None if found.until_ms == FOREVER else found.until_ms,
        "shared": {"jobs": len(found.rows[0]), "of": [len(side.jobs) for side in found.sides]},
        "notes": [*_notes_of_lost(runs, lost), *_notes(runs, found, bases)],
        "metrics": [_metric(BY_KEY[key], values, ranked) for key in COMPARED],
        "distributions": found.distributions,
        "kinds": KINDS,
        "differences": [_differences(found, which) for which in range(1, len(found.sides))],
        "partings": [_divergence(found, i) for i in range(1, len(found.sides))],
        "groups": found.groups,
        "grouped": GROUPED,
    }


def page(runs: Sequence[Run], asked: Mapping[str, str]) -> dict[str, Any]:
    """{run, at_ms, counts, accounts, count, total, page, size, rows} of the jobs that differ.

    asked: run, kind, q (part of id or model), sort, page, size. All counts are of one time, at_ms; None: the end.
    """
    found = compared(runs)
    which = _which(found, asked)
    size = number(asked, "size", 25, 1, MAX_ROWS)
    chosen = _chosen(found, which, asked)
    at = number(asked, "page", 1, 1, max(1, -(-len(chosen) // size)))
    rows = _rows(found, which, chosen[(at - 1) * size : at * size])
    span = [int(min(side.outcomes.arrived_ms.min(initial=0) for side in found.sides)), _latest(found)]
    return _differences(found, which) | {
        "count": len(chosen),
        "total": found.accounts[which]["differ"],
        "page": at,
        "size": size,
        "span_ms": span,
        "rows": rows,
    }


def _differences(found: Compared, which: int) -> dict[str, Any]:
    """Number of jobs that differ from the baseline, by kind, and of all other jobs."""
    return {
        "run": found.sides[which].run_id,
        "at_ms": None if found.until_ms == FOREVER else found.until_ms,
        "differing": found.accounts[which]["differ"],
        "counts": counts(found.kinds[which]),
        "accounts": found.accounts[which],
    }


def kinds(runs: Sequence[Run]) -> bytes:
    """columns.pack: of each run in full `run_<id>`, uint8 [its job index] sums of meta.bits; 0 = as the base.

    The base's own column has the differences of all others.
    """
    found = compared(runs)
    columns = {}
    for i, (side, rows) in enumerate(zip(found.sides, found.rows, strict=True)):
        column = np.zeros(len(side.jobs), dtype=np.uint8)
        column[rows] = np.bitwise_or.reduce(found.kinds) if i == 0 else found.kinds[i]
        columns[f"run_{side.run_id}"] = column
        columns[f"shared_{side.run_id}"] = rows.astype(np.int32)
    return pack({"bits": BIT}, columns)


def metric_lines(runs: Sequence[Run]) -> Iterator[bytes]:
    """metrics.csv: a row per metric, with the value of each run and its difference from the base."""
    answer = payload(runs)
    head = ["figure", "unit", "direction"]
    for run in runs:
        in_charge = scheduler_history.words(scheduler_history.of_run(run), by_name=True)
        head += [f"run {run.pk} {in_charge}", f"run {run.pk} minus run {runs[0].pk}"]
    yield _csv(head)
    for row in answer["metrics"]:
        yield _csv(
            [
                row["title"],
                row["unit"],
                row["direction"] or "",
                *(x for v in row["values"] for x in (v["value"], v["delta"])),
            ]
        )


def difference_lines(runs: Sequence[Run], asked: Mapping[str, str]) -> Iterator[bytes]:
    """differences.csv: a row per job that differs; the same filters as the page."""
    found = compared(runs)
    which = _which(found, asked)
    names = ("state", "start_ms", "finish_ms", "completed_ms", "jct_ms", "utility", "preemptions")
    sides = [f"run {found.sides[i].run_id}" for i in (0, which)]
    yield _csv(["job", "model", "arrived_ms", "kinds", *(f"{side} {name}" for side in sides for name in names)])
    chosen = _chosen(found, which, asked)
    for first in range(0, len(chosen), MAX_ROWS):
        for row in _rows(found, which, chosen[first : first + MAX_ROWS]):
            parts = [row[side][name] for side in ("base", "other") for name in names]
            yield _csv([row["id"], row["model"], row["arrived_ms"], " ".join(row["kinds"]), *parts])


def _read(drawn: Sequence[Run], until_ms: int) -> Compared:
    sides = []
    for run in drawn:
        with Newest(run) as state:
            sides.append(side_of(run, state, until_ms))
    return Compared(sides, until_ms)


def _metric(metric: Metric, values: Sequence[Mapping[str, Any]], ranked: Sequence[bool]) -> dict[str, Any]:
    """Row of the table: the value of each run, compared with the first where both can be ranked."""
    about = [row.get(f"{metric.key}_about") for row in values]
    ranked = [can and row.get(f"{metric.key}_ranked", True) for can, row in zip(ranked, values, strict=True)]
    cells = against([row.get(metric.key) for row in values], metric.direction, metric.unit, ranked)
    return asdict(metric) | {
        "values": [cell | ({"about": what} if what else {}) for cell, what in zip(cells, about, strict=True)]
    }


def _stored(run: Run) -> dict[str, Any]:
    """Stored metrics of a run that is not compared in full."""
    return stored_metrics(run.metrics) if run.status == Run.FINISHED else {}


def _measured(run: Run, share: Share, until_ms: int) -> dict[str, Any]:
    """Metrics of a finished run that are not in the log."""
    if run.status != Run.FINISHED or until_ms != FOREVER:
        return {}
    return {
        "certificate_ratio": share.ratio, "certificate_ratio_about": share.about,
        "certificate_ratio_ranked": share.ranked, "decision_p95_ms": run.decision_ms.get("p95"),
    }  # fmt: skip


def _run(run: Run) -> dict[str, Any]:
    scenario = run.scenario
    return {
        "id": run.pk, "name": scenario.name, "scheduler": scheduler_history.present(run).name,
        "title": scheduler_history.words(scheduler_history.of_run(run)), "parameters": scenario.parameters,
        "seed": scenario.seed, "trace": scenario.trace.name, "cluster": scenario.cluster.name, "mode": run.mode,
        "status": run.status, "sim_ms": run.sim_ms, "begun": run.last_seq > 0, "message": run.message,
    }  # fmt: skip


def _notes_of_lost(runs: Sequence[Run], lost: Sequence[str]) -> Iterator[str]:
    if lost:
        left = (
            f"run {runs[0].pk} is the base"
            if len(runs) > 1
            else f"only run {runs[0].pk} is left, choose another run to compare with it"
        )
        yield f"{' '.join(lost)} The comparison is made without {'it' if len(lost) == 1 else 'them'}; {left}."


def _notes(runs: Sequence[Run], found: Compared, bases: Sequence[Basis]) -> Iterator[str]:
    """Notes on the validity of the comparison, for all runs including those only listed."""
    first = runs[0]
    pairs = list(zip(runs, bases, strict=True))
    unlike = [(run, basis.models) for run, basis in pairs if not comparable(basis.models, bases[0].models)]
    if unlike:
        rest = ", ".join(f"{named(models)} in run {run.pk}" for run, models in unlike)
        yield (
            f"The runs have different training models: {named(bases[0].models)} in run {first.pk}, {rest}. The same "
            "job has different durations, so the metrics of "
            f"{'these runs' if len(unlike) > 1 else f'run {unlike[0][0].pk}'} are not ranked."
        )
    for run, basis in pairs:
        if basis.from_ms:
            yield _note_of_cut(run)
    unrelated = [run for run, basis in pairs if not kin(basis, bases[0])]
    if unrelated:
        rest = ", ".join(f"“{run.scenario.trace.name}” in run {run.pk}" for run in unrelated)
        yield (
            f"The runs have different traces: “{first.scenario.trace.name}” in run {first.pk}, {rest}. Their jobs "
            "differ, so the metrics of "
            f"{'these runs' if len(unrelated) > 1 else f'run {unrelated[0].pk}'} are not ranked."
        )
    if len(runs) > MAX_DRAWN:
        yield (
            f"{len(runs)} runs are listed. The first {MAX_DRAWN} are compared in full; for "
            "the others only the metrics stored "
            "at their end are shown."
        )
    going = [run for run in runs[:MAX_DRAWN] if run.status != Run.FINISHED]
    begun = [run for run in going if run.last_seq]
    if begun:
        yield (
            f"{_named(begun)} not finished: the comparison covers the time up to "
            f"{moment(found.until_ms)}, which all runs have reached."
        )
    idle = [run for run in going if not run.last_seq]
    if idle:
        yield f"{_named(idle)} not started: there is nothing to compare yet."
    shared, sizes = len(found.rows[0]), [len(side.jobs) for side in found.sides]
    if any(size != shared for size in sizes):
        of = ", ".join(f"{size:,} of run {side.run_id}" for size, side in zip(sizes, found.sides, strict=True))
        yield (
            f"The runs do not have the same jobs: {shared:,} are common ({of}). "
            "Differences, distributions and breakdowns "
            "cover these; the metrics of each run cover all of its own jobs."
        )
    yield from _notes_of_listed(runs)
    related = [kin(basis, bases[0]) and max(basis.from_ms, bases[0].from_ms) > 0 for basis in bases]
    others = [
        run
        for run, cut in zip(runs, related, strict=True)
        if run.scenario.cluster_id != first.scenario.cluster_id and not cut
    ]
    if others:
        yield "The runs have different clusters, so differences are not caused by the scheduler alone."


def _note_of_cut(run: Run) -> str:
    cut = run.scenario.trace.report["cut"]
    return (
        f"Run {run.pk} is cut from run {cut['run']} at {moment(cut['at_ms'])}: it begins with the jobs that were open "
        "then; their JCT counts from then. It assigns those that ran then to servers again, so the first divergence "
        "leaves them out."
    )


def _notes_of_listed(runs: Sequence[Run]) -> Iterator[str]:
    """Notes on runs that are not compared in full. ModelError if one has no common jobs with the first."""
    ids = set(field_of(store.of_run(runs[0])[1], "id")) if len(runs) > MAX_DRAWN else set()
    for run in runs[MAX_DRAWN:]:
        own = set(field_of(store.of_run(run)[1], "id"))
        shared = len(ids & own)
        if not shared:
            raise ModelError(f"runs {runs[0].pk} and {run.pk} have no common job ids; compare runs of the same trace")
        if own != ids:
            yield (
                f"Run {run.pk} does not have the jobs of run {runs[0].pk}: {shared:,} are common ({len(ids):,} of run "
                f"{runs[0].pk}, {len(own):,} of run {run.pk}). Its metrics cover all of its own jobs."
            )


def _named(runs: Sequence[Run]) -> str:
    """'Runs 1 (queued), 2 (running) and 3 (queued) have'"""
    *others, last = [f"{run.pk} ({run.status})" for run in runs]
    return f"Runs {', '.join(others)} and {last} have" if others else f"Run {last} has"


def _divergence(found: Compared, which: int) -> dict[str, Any]:
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
    return {
        "run": other.run_id, "at_ms": divergence.at_ms, "job": job.id, "model": job.model,
        "index": [mine, yours], "jobs": divergence.jobs, "same_before": divergence.same,
        "base": decision_of(base, mine, divergence.at_ms, found.until_ms),
        "other": decision_of(other, yours, divergence.at_ms, found.until_ms),
    }  # fmt: skip


def _other_trace(base: Side, other: Side) -> str:
    return (
        f"Runs {base.run_id} and {other.run_id} have different traces. Jobs with the same id are different jobs, "
        "so their decisions are not compared."
    )


def _which(found: Compared, asked: Mapping[str, str]) -> int:
    """Run that is compared with the baseline: the second one unless `run` names another."""
    ids = [side.run_id for side in found.sides]
    if len(ids) == 1:
        raise ModelError(f"run {ids[0]} is the only one of the list that exists; name another run to compare it with")
    wanted = asked.get("run", "")
    if wanted == "":
        return 1
    if wanted not in map(str, ids[1:]):
        raise ModelError(
            f"run must be one of {', '.join(map(str, ids[1:]))}, which are compared with run {ids[0]}, "
            f"got {wanted[:40]!r}"
        )
    return ids.index(int(wanted))


def _chosen(found: Compared, which: int, asked: Mapping[str, str]) -> np.ndarray:
    """Positions among the shared jobs, in the order asked for."""
    kind, query, sort = asked.get("kind", ""), asked.get("q", "").strip().lower(), asked.get("sort", "index")
    if kind and kind not in BIT:
        raise ModelError(f"kind must be one of {', '.join(BIT)}, got {kind[:40]!r}")
    if sort.lstrip("-") not in SORTS:
        raise ModelError(
            f"sort must be one of {', '.join(SORTS)}, with the prefix - for descending order, got {sort[:40]!r}"
        )
    mask = found.kinds[which]
    chosen = np.flatnonzero(mask & BIT[kind] if kind else mask)
    if query:
        rows, (ids, models) = found.rows[0], (field_of(found.sides[0].jobs, name) for name in ("id", "model"))
        named = [i for i in chosen.tolist() if query in ids[rows[i]].lower() or query in models[rows[i]].lower()]
        chosen = np.array(named, dtype=np.int64)
    if sort.lstrip("-") == "index":
        return chosen[::-1] if sort.startswith("-") else chosen
    changes = _changes(found, which, sort.lstrip("-"))[chosen]
    lacking = np.isnan(changes)
    order = np.argsort(np.where(lacking, 0, -changes if sort.startswith("-") else changes), kind="stable")
    return chosen[np.concatenate((order[~lacking[order]], order[lacking[order]]))]  # without a change: last


def _changes(found: Compared, which: int, name: str) -> np.ndarray:
    """[shared job] the other minus the base; NaN where one has none."""
    sides = []
    for i in (0, which):
        outcomes, rows = found.sides[i].outcomes, found.rows[i]
        if name in ("start", "finish"):
            times = getattr(outcomes, f"{name}_ms")[rows].astype(float)
            sides.append(np.where(times < 0, np.nan, times))
        else:
            sides.append((outcomes.jct_ms if name == "jct" else outcomes.utility)[rows])
    return sides[1] - sides[0]


def _rows(found: Compared, which: int, places: np.ndarray) -> list[dict[str, Any]]:
    jobs = some_of(found.sides[0].jobs, found.rows[0][places].tolist())
    return [_row(found, which, place, job) for place, job in zip(places.tolist(), jobs, strict=True)]


def _row(found: Compared, which: int, place: int, job: Job) -> dict[str, Any]:
    indexes = [int(found.rows[i][place]) for i in (0, which)]
    return {
        "index": indexes,
        "id": job.id,
        "model": job.model,
        "arrived_ms": job.arrival_ms,
        "kinds": names_of(int(found.kinds[which][place])),
        "base": life(found.sides[0].outcomes, indexes[0], job.utility is not None),
        "other": life(found.sides[which].outcomes, indexes[1], job.utility is not None),
    }


def _latest(found: Compared) -> int:
    return int(max(side.outcomes.finish_ms.max(initial=1) for side in found.sides))


def _csv(cells: Sequence[Any]) -> bytes:
    """One line; a text that a spreadsheet would take for a formula is made harmless."""
    return (",".join(map(_text, cells)) + "\n").encode()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    safe = cell(value)
    return '"' + safe.replace('"', '""') + '"' if any(c in safe for c in ',"\r\n') else safe
