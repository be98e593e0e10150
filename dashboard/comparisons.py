"""Runs side by side as the compare page and its downloads tell them; what was compared last is kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rest_framework.exceptions import NotFound

from dashboard.jobs import number
from dashboard.states import Newest
from scheduling.model import ModelError
from scheduling.reasons import duration
from scheduling.registry import schedulers
from twin.columns import pack
from twin.comparing import MOST_DRAWN, MOST_RUNS, Compared, common_instant, side_of
from twin.comparing.differences import BIT, KINDS, counts, life, names_of
from twin.comparing.figures import FIGURES, against, told_figures
from twin.comparing.lives import FOREVER
from twin.comparing.words import decision_of
from twin.formats.outputs import cell
from twin.models import Run

MOST_ROWS = 500
KEPT = 3  # comparisons: a page asks several times for the same
SORTS = ("index", "start", "finish", "jct", "utility")
_kept: OrderedDict[tuple[Any, ...], Compared] = OrderedDict()
_lock = threading.Lock()


def runs_of(text: str) -> list[Run]:
    """The runs of `1,2,3`, in that order; ModelError or NotFound say what is wrong with the list."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    wrong = [name for name in names if not (name.isdecimal() and len(name) <= 18)]
    if wrong:
        raise ModelError(f"runs must be numbers with commas between them, as in runs=1,2, got {wrong[0][:40]!r}")
    ids = [int(name) for name in names]
    if len(set(ids)) < len(ids):
        raise ModelError(
            f"a run can be compared with itself only trivially; run {next(i for i in ids if ids.count(i) > 1)} is named twice"
        )
    if not 2 <= len(ids) <= MOST_RUNS:
        raise ModelError(f"compare takes 2 to {MOST_RUNS} runs, as in runs=1,2 (the first {MOST_DRAWN} in full), got {len(ids)}")
    found = Run.objects.select_related("scenario", "scenario__trace", "scenario__cluster").in_bulk(ids)
    gone = [str(i) for i in ids if i not in found]
    if gone:
        raise NotFound(f"There is no run {', '.join(gone)}; it may have been deleted.")
    return [found[i] for i in ids]


def compared(runs: Sequence[Run]) -> Compared:
    """The first MOST_DRAWN of the runs, up to the instant that all of these have reached."""
    drawn = runs[:MOST_DRAWN]
    key = tuple((run.pk, run.last_seq, run.status) for run in drawn)
    with _lock:
        known = _kept.pop(key, None) or _read(drawn)
        _kept[key] = known
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return known


def forget() -> None:
    """Drops everything that is kept."""
    with _lock:
        _kept.clear()


def told(runs: Sequence[Run]) -> dict[str, Any]:
    """What GET /api/compare/ answers."""
    found = compared(runs)
    listed = runs[MOST_DRAWN:]
    values = [
        (figures if run.last_seq else {}) | _measured(run, found.until_ms)
        for run, figures in zip(runs, [*found.figures, *map(_stored, listed)], strict=True)
    ]
    return {
        "runs": [_run(run) for run in runs],
        "most": {"runs": MOST_RUNS, "in_full": MOST_DRAWN},
        "in_full": [side.run_id for side in found.sides],
        "at_ms": None if found.until_ms == FOREVER else found.until_ms,
        "shared": {"jobs": len(found.rows[0]), "of": [len(side.jobs) for side in found.sides]},
        "notes": list(_notes(runs, found)),
        "metrics": [
            {"key": f.key, "title": f.title, "unit": f.unit, "better": f.better, "help": f.help}
            | {"values": against([row.get(f.key) for row in values], f.better)}
            for f in FIGURES
        ],
        "distributions": found.distributions,
        "kinds": KINDS,
        "differences": [
            {"run": side.run_id, "differing": int((mask != 0).sum()), "counts": counts(mask)}
            for side, mask in zip(found.sides[1:], found.kinds[1:], strict=True)
        ],
        "partings": [_parting(found, i) for i in range(1, len(found.sides))],
        "groups": found.groups,
    }


def page(runs: Sequence[Run], asked: Mapping[str, str]) -> dict[str, Any]:
    """{count, total, page, size, rows} of the jobs that differ; asked: run, kind, q (part of id or model), sort, page, size."""
    found = compared(runs)
    which = _which(found, asked)
    size = number(asked, "size", 25, 1, MOST_ROWS)
    chosen = _chosen(found, which, asked)
    at = number(asked, "page", 1, 1, max(1, -(-len(chosen) // size)))
    rows = [_row(found, which, place) for place in chosen[(at - 1) * size : at * size].tolist()]
    total = int((found.kinds[which] != 0).sum())
    span = [int(min(side.lives.arrived_ms.min(initial=0) for side in found.sides)), _latest(found)]
    return {
        "run": found.sides[which].run_id,
        "count": len(chosen),
        "total": total,
        "page": at,
        "size": size,
        "span_ms": span,
        "rows": rows,
    }


def kinds(runs: Sequence[Run]) -> bytes:
    """columns.pack: of each run compared in full `run_<id>`, uint8 [its job index] sums of meta.bits; 0 = no difference to the base.

    The base's own column holds what differs in any of the others.
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
    """metrics.csv: a row a figure, and of each run its value and the difference to the base."""
    answer = told(runs)
    head = ["figure", "unit", "better"]
    for run in answer["runs"]:
        head += [f"run {run['id']} {run['scheduler']}", f"run {run['id']} minus run {answer['runs'][0]['id']}"]
    yield _csv(head)
    for row in answer["metrics"]:
        yield _csv(
            [row["title"], row["unit"], row["better"] or "", *(x for v in row["values"] for x in (v["value"], v["delta"]))]
        )


def difference_lines(runs: Sequence[Run], asked: Mapping[str, str]) -> Iterator[bytes]:
    """differences.csv: a row a job that differs; the same filters as the page."""
    found = compared(runs)
    which = _which(found, asked)
    names = ("state", "start_ms", "finish_ms", "completed_ms", "jct_ms", "utility", "preemptions")
    sides = [f"run {found.sides[i].run_id}" for i in (0, which)]
    yield _csv(["job", "model", "arrived_ms", "kinds", *(f"{side} {name}" for side in sides for name in names)])
    for place in _chosen(found, which, asked).tolist():
        row = _row(found, which, place)
        parts = [row[side][name] for side in ("base", "other") for name in names]
        yield _csv([row["id"], row["model"], row["arrived_ms"], " ".join(row["kinds"]), *parts])


def _read(drawn: Sequence[Run]) -> Compared:
    until_ms = common_instant(drawn)
    sides = []
    for run in drawn:
        with Newest(run) as state:
            sides.append(side_of(run, state, until_ms))
    return Compared(sides, until_ms)


def _stored(run: Run) -> dict[str, Any]:
    """Of a run that is not compared in full: what it kept when it finished."""
    return told_figures(run.metrics) if run.status == Run.FINISHED else {}


def _measured(run: Run, until_ms: int) -> dict[str, Any]:
    """What no log holds: only of a run at its end."""
    if run.status != Run.FINISHED or until_ms != FOREVER:
        return {}
    return {"certificate_ratio": run.certificate.get("ratio"), "decision_p95_ms": run.decision_ms.get("p95")}


def _run(run: Run) -> dict[str, Any]:
    scenario = run.scenario
    known = schedulers().get(scenario.scheduler)
    return {
        "id": run.pk, "name": scenario.name, "scheduler": scenario.scheduler, "title": known.title if known else scenario.scheduler,
        "parameters": scenario.parameters, "seed": scenario.seed, "trace": scenario.trace.name, "cluster": scenario.cluster.name,
        "mode": run.mode, "status": run.status, "sim_ms": run.sim_ms, "begun": run.last_seq > 0, "message": run.message,
    }  # fmt: skip


def _notes(runs: Sequence[Run], found: Compared) -> Iterator[str]:
    """What a reader must know before believing the figures."""
    if len(runs) > MOST_DRAWN:
        yield (
            f"{len(runs)} runs are listed. The first {MOST_DRAWN} are compared in full; of the others only the figures that they kept "
            "when they finished are shown."
        )
    going = [run for run in runs[:MOST_DRAWN] if run.status != Run.FINISHED]
    begun = [run for run in going if run.last_seq]
    if begun:
        yield (
            f"{_named(begun)} not finished: all that follows compares what is known up to "
            f"{duration(found.until_ms)} after the scenario's start, the latest instant that all have reached."
        )
    idle = [run for run in going if not run.last_seq]
    if idle:
        yield f"{_named(idle)} not begun: there is nothing to compare yet."
    shared, sizes = len(found.rows[0]), [len(side.jobs) for side in found.sides]
    if any(size != shared for size in sizes):
        of = ", ".join(f"{size:,} of run {side.run_id}" for size, side in zip(sizes, found.sides, strict=True))
        yield (
            f"The runs do not have the same jobs: {shared:,} have the same id ({of}). Differences, distributions and groups are "
            "about these; the figures of each run are about all of its own."
        )
    if len({run.scenario.cluster_id for run in runs[:MOST_DRAWN]}) > 1:
        yield "The runs have different clusters: what differs is not due to the scheduler alone."


def _named(runs: Sequence[Run]) -> str:
    """'Runs 1 (queued), 2 (running) and 3 (queued) have'"""
    *others, last = [f"{run.pk} ({run.status})" for run in runs]
    return f"Runs {', '.join(others)} and {last} have" if others else f"Run {last} has"


def _parting(found: Compared, which: int) -> dict[str, Any]:
    """The first divergence of one run from the base, with both decisions in words."""
    base, other, parting = found.sides[0], found.sides[which], found.partings[which]
    if parting is None:
        return {"run": other.run_id, "at_ms": None}
    mine, yours = int(found.rows[0][parting.job]), int(found.rows[which][parting.job])
    return {
        "run": other.run_id, "at_ms": parting.at_ms, "job": base.jobs[mine].id, "model": base.jobs[mine].model,
        "index": [mine, yours], "jobs": parting.jobs, "same_before": parting.same,
        "base": decision_of(base, mine, parting.at_ms, found.until_ms),
        "other": decision_of(other, yours, parting.at_ms, found.until_ms),
    }  # fmt: skip


def _which(found: Compared, asked: Mapping[str, str]) -> int:
    """The run that is told against the base: the second one unless `run` names another."""
    ids = [side.run_id for side in found.sides]
    wanted = asked.get("run", "")
    if wanted == "":
        return 1
    if wanted not in map(str, ids[1:]):
        raise ModelError(
            f"run must be one of {', '.join(map(str, ids[1:]))}, those told against run {ids[0]}, got {wanted[:40]!r}"
        )
    return ids.index(int(wanted))


def _chosen(found: Compared, which: int, asked: Mapping[str, str]) -> np.ndarray:
    """Positions among the shared jobs, in the order asked for."""
    kind, query, sort = asked.get("kind", ""), asked.get("q", "").strip().lower(), asked.get("sort", "index")
    if kind and kind not in BIT:
        raise ModelError(f"kind must be one of {', '.join(BIT)}, got {kind[:40]!r}")
    if sort.lstrip("-") not in SORTS:
        raise ModelError(f"sort must be one of {', '.join(SORTS)}, with - before it for descending, got {sort[:40]!r}")
    mask = found.kinds[which]
    chosen = np.flatnonzero(mask & BIT[kind] if kind else mask)
    if query:
        jobs, rows = found.sides[0].jobs, found.rows[0]
        named = [i for i in chosen.tolist() if query in jobs[rows[i]].id.lower() or query in jobs[rows[i]].model.lower()]
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
        lives, rows = found.sides[i].lives, found.rows[i]
        if name in ("start", "finish"):
            times = getattr(lives, f"{name}_ms")[rows].astype(float)
            sides.append(np.where(times < 0, np.nan, times))
        else:
            sides.append((lives.jct_ms if name == "jct" else lives.utility)[rows])
    return sides[1] - sides[0]


def _row(found: Compared, which: int, place: int) -> dict[str, Any]:
    indexes = [int(found.rows[i][place]) for i in (0, which)]
    job = found.sides[0].jobs[indexes[0]]
    return {
        "index": indexes,
        "id": job.id,
        "model": job.model,
        "arrived_ms": job.arrival_ms,
        "kinds": names_of(int(found.kinds[which][place])),
        "base": life(found.sides[0].lives, indexes[0]),
        "other": life(found.sides[which].lives, indexes[1]),
    }


def _latest(found: Compared) -> int:
    return int(max(side.lives.finish_ms.max(initial=1) for side in found.sides))


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
