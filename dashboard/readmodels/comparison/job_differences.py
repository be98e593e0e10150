"""Jobs that differ between two runs: counts, pages of a table, and a mask for each job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.query import number, page_of, sort_of
from dashboard.readmodels.comparison.cached import compared
from scheduling.model.values import Job, ModelError
from twin.analysis.comparison import Compared
from twin.analysis.comparison.differences import BIT, counts, life, names_of
from twin.analysis.comparison.outcomes import FOREVER
from twin.files.stored_jobs import field_of, some_of
from twin.infra.columns import pack
from twin.models import Run

MAX_ROWS = 500
NOT_COMPARED = 255  # in place of kinds of difference
NO_JOBS = np.zeros(0, dtype=np.int32)
SORTS = ("index", "start", "finish", "jct", "utility")


def page(runs: Sequence[Run], asked: Mapping[str, str]) -> dict[str, Any]:
    """{run, at_ms, counts, accounts, count, total, page, size, rows} of the jobs that differ.

    asked: run, kind, q (part of id or model), sort, page, size. All counts are of one time, at_ms; None: the end.
    """
    found = compared(runs)
    which = position_of(found, asked)
    size = number(asked, "size", 25, 1, MAX_ROWS)
    chosen = filtered(found, which, asked)
    at = page_of(asked, len(chosen), size)
    rows = rows_of(found, which, chosen[(at - 1) * size : at * size])
    span = [int(min(side.outcomes.arrived_ms.min(initial=0) for side in found.sides)), _latest(found)]
    return difference_counts(found, which) | {
        "count": len(chosen),
        "total": found.accounts[which]["differ"],
        "page": at,
        "size": size,
        "span_ms": span,
        "rows": rows,
    }


def difference_counts(found: Compared, which: int) -> dict[str, Any]:
    """Number of jobs that differ from the baseline, by kind, and of all other jobs."""
    return {
        "run": found.sides[which].run_id,
        "at_ms": None if found.until_ms == FOREVER else found.until_ms,
        "differing": found.accounts[which]["differ"],
        "counts": counts(found.kinds[which]),
        "accounts": found.accounts[which],
    }


def kinds(runs: Sequence[Run]) -> bytes:
    """columns.pack: for each run that is compared in full `run_<id>`, uint8 by job: a sum of meta.bits.

    0: as the baseline; NOT_COMPARED: a job that not all runs have, or of a run of another trace. `shared_<id>`: the
    indexes of the compared jobs. The baseline's own column has the differences of all others.
    """
    found = compared(runs)
    columns = {}
    for i, (side, rows, alike) in enumerate(zip(found.sides, found.rows, found.same_trace, strict=True)):
        own = rows if alike else NO_JOBS
        column = np.full(len(side.jobs), NOT_COMPARED, dtype=np.uint8)
        column[own] = np.bitwise_or.reduce(found.kinds) if i == 0 else found.kinds[i][: len(own)]
        columns[f"run_{side.run_id}"] = column
        columns[f"shared_{side.run_id}"] = own.astype(np.int32)
    return pack({"bits": BIT}, columns)


def position_of(found: Compared, asked: Mapping[str, str]) -> int:
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


def filtered(found: Compared, which: int, asked: Mapping[str, str]) -> np.ndarray:
    """Positions among the shared jobs, in the order asked for."""
    kind, query = asked.get("kind", ""), asked.get("q", "").strip().lower()
    sort, falling = sort_of(asked, SORTS)
    if kind and kind not in BIT:
        raise ModelError(f"kind must be one of {', '.join(BIT)}, got {kind[:40]!r}")
    mask = found.kinds[which]
    chosen = np.flatnonzero(mask & BIT[kind] if kind else mask)
    if query:
        rows, (ids, models) = found.rows[0], (field_of(found.sides[0].jobs, name) for name in ("id", "model"))
        named = [i for i in chosen.tolist() if query in ids[rows[i]].lower() or query in models[rows[i]].lower()]
        chosen = np.array(named, dtype=np.int64)
    if sort == "index":
        return chosen[::-1] if falling else chosen
    changes = _changes(found, which, sort)[chosen]
    lacking = np.isnan(changes)
    order = np.argsort(np.where(lacking, 0, -changes if falling else changes), kind="stable")
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


def rows_of(found: Compared, which: int, places: np.ndarray) -> list[dict[str, Any]]:
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
