"""Levels of detail of a large run: raster, curves and totals of a window of time, and its bars when they are few."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from dashboard.query import number
from dashboard.readmodels import job_table
from scheduling.model.bars import JOB
from scheduling.model.values import ModelError
from twin.analysis import levels, stored_levels
from twin.eventlog.fold import BAR_FIELDS
from twin.eventlog.job_states import STATES
from twin.eventlog.large_runs import check, is_large
from twin.files.stored_jobs import some_of
from twin.models import Run
from twin.runs import scheduler_history
from twin.scenarios import store

MAX_COLUMNS, COLUMNS = 1_024, 512
THUMBNAIL = 96  # columns
MAX_LISTED = 2_000  # bars of a window that are listed one by one
CURVES = ("arrived_ms", "completed_ms", "rejected_ms")
MIN_INTERVALS = 8  # a window with fewer intervals of the finest level for each column asked for is read from the log
SHOWN = ("job", "role", "server", "start_ms", "end_ms", "count")  # of a bar


def page(run: Run, asked: Mapping[str, str]) -> dict[str, Any]:
    """{ready, last_seq} until there are levels of events after `after`; then the window from_ms to to_ms.

    It has `columns` intervals. counted: the resource that the share of a cell is about, as its place in `scale`;
    source: stored, or log where the window was read from the log; bars: null where there are more than MAX_LISTED.
    """
    if not is_large(run):
        raise ModelError(f"run {run.pk} has {run.last_seq:,} events; levels of detail are for larger runs")
    found = stored_levels.of(run)
    if found is None and stored_levels.given_up(run):
        raise ModelError(f"the log of run {run.pk} cannot be summarized; the log of the server states why")
    if found is None or found.meta["seq"] <= number(asked, "after", 0, 0, 2**53):
        return {"ready": False, "last_seq": run.last_seq}
    fine = found.columns["edges"]
    low, high = int(fine[0]), int(fine[-1])
    from_ms = min(number(asked, "from_ms", low, 0, high), high - 1)
    to_ms = max(number(asked, "to_ms", high, 0, high), from_ms + 1)
    columns = number(asked, "columns", COLUMNS, 1, MAX_COLUMNS)
    within = int(((fine > from_ms) & (fine < to_ms)).sum())
    bars = stored_levels.listed(run, found, from_ms, to_ms) if within * MIN_INTERVALS < columns else None
    if bars is None:
        edges, raster, counted = stored_levels.shares(found, from_ms, to_ms, columns)
    else:
        edges = np.unique(from_ms + (to_ms - from_ms) * np.arange(columns + 1) // columns)
        raster, counted = levels.raster_of(run, bars, edges)
    codes = found.columns["state"]
    return {
        "ready": True,
        "last_seq": run.last_seq,
        "seq": found.meta["seq"],
        "sim_ms": found.meta["sim_ms"],
        "first_ms": low,
        "last_ms": high,
        "source": "stored" if bars is None else "log",
        "measure": found.meta["measure"],
        "scale": found.meta["scale"],
        "rows": found.meta["rows"],
        "edges": edges.tolist(),
        "raster": b64encode(raster.tobytes()).decode(),
        "counted": b64encode(counted.tobytes()).decode(),
        "curves": {name.removesuffix("_ms"): stored_levels.counts(found, name, edges) for name in CURVES},
        "total_bars": found.meta["bars"],
        "total_jobs": len(codes),
        "jobs": dict(zip(STATES, np.bincount(codes[codes >= 0], minlength=len(STATES)).tolist(), strict=True)),
        "bars": _listed(run, bars),
        "job_columns": [one.declared for one in job_table.COLUMNS if one.field in (None, "model")],
        "phases": [{"model": one.rules.model.name} for one in scheduler_history.in_charge(run)],
    }


def _listed(run: Run, bars: np.ndarray | None) -> dict[str, Any] | None:
    """The bars one by one, with the names of their jobs and servers; None for none or too many."""
    if bars is None or len(bars) > MAX_LISTED:
        return None
    cluster, jobs = store.of_run(run)
    own = np.unique(bars[:, JOB])
    names = {index: job.id for index, job in zip(own.tolist(), some_of(jobs, own.tolist()), strict=True)}
    columns = {name: bars[:, BAR_FIELDS.index(name)].tolist() for name in SHOWN}
    servers = [cluster.servers[index].name for index in columns["server"]]
    return {**columns, "id": [names[index] for index in columns["job"]], "server_name": servers}


def thumbnail(run: Run) -> dict[str, Any]:
    """Raster as twin.analysis.thumbnail makes it, with the rows of the levels; TooLarge before they are there."""
    found = stored_levels.of(run)
    if found is None:
        check(run)
    assert found is not None
    edges, raster, _ = stored_levels.shares(found, 0, int(found.columns["edges"][-1]), THUMBNAIL)
    return {
        "seq": found.meta["seq"],
        "sim_ms": found.meta["sim_ms"],
        "from_ms": int(edges[0]),
        "to_ms": int(edges[-1]),
        "measure": found.meta["measure"],
        "scale": found.meta["scale"],
        "columns": raster.shape[1],
        "rows": found.meta["rows"],
        "raster": b64encode(raster.tobytes()).decode(),
    }
