"""Payloads of the run page: the static part once, the state as binary columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from dashboard.readmodels.job_table import COLUMNS
from scheduling.kernel.registry import scheduler_class
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import RESOURCE_UNITS, RESOURCES, SITES, ZERO, Demand, Job, Server
from scheduling.typed_workers import workers as typed
from twin.eventlog import frames, large_runs
from twin.eventlog.fold import snapshot as columns_of
from twin.eventlog.state_cache import Newest
from twin.files.stored_jobs import StoredJobs, any_utility, field_of
from twin.infra.columns import pack
from twin.mirror.whatif.inputs import FORMAT
from twin.models import Run
from twin.runs import scheduler_history
from twin.scenarios import store
from twin.scenarios.edits import Stage

MAX_SPAN = 1 << 24  # between the least and the largest number, up to which the distinct ones are found without sorting


def static(run: Run) -> bytes:
    """JSON of the cluster, schedulers by phase, limited resources; for each job:

    its id, model, arrival and demands (flat, thousandths, five per job).
    """
    large_runs.check(run)
    cluster, jobs = store.of_run(run)
    stages = store.stages_of(run.scenario, run.edits)
    charges = scheduler_history.of_run(run)
    in_charge = [scheduler_class(one.name) for one in charges]  # the first one, and those set by edits
    cls = scheduler_class(scheduler_history.present(run).name)
    models = {one.model for one in in_charge}
    counted = typed.counted(cluster)
    body: dict[str, Any] = {
        "run": {
            "id": run.pk,
            "mode": run.mode,
            "scenario": run.scenario.name,
            "seed": run.scenario.seed,
            "parameters": run.scenario.parameters,
        },
        "scheduler": {
            "name": cls.name,
            "title": cls.title,
            "model": cls.model.name,
            "quotes": any(one.quotes for one in in_charge),
            "paper": cls.paper,
            "summary": cls.summary,
        },
        "phases": [_phase(one, each) for one, each in zip(charges, in_charge, strict=True)],
        "resources": RESOURCES,
        "limits": store.packed_where_any(run),
        "units": RESOURCE_UNITS,
        "sites": SITES,
        "cluster": {
            "name": cluster.name,
            "slot_ms": cluster.slot_ms,
            "horizon_slots": cluster.horizon_slots,
            "cloud": cluster.unlimited_cloud,
            "servers": [
                _server(server, _earlier(stages, i, "capacity"), counted)
                | _unless_empty("away_was", _earlier(stages, i, "away"))
                for i, server in enumerate(cluster.servers)
            ],
        },
        "job_columns": [
            {"key": one.key, "title": one.title, "format": one.format}
            for one in COLUMNS
            if one.field is None or any(value is not None for value in field_of(jobs, one.field))
        ],
        "worth": any_utility(jobs),
        "ids": field_of(jobs, "id"),
        "models": field_of(jobs, "model"),
        "users": _coded(field_of(jobs, "user")),
        "groups": _coded(field_of(jobs, "group")),
        "arrival_ms": field_of(jobs, "arrival_ms"),
        "worker": [amount for demand in field_of(jobs, "worker") for amount in demand or ZERO],
        "ps": [amount for demand in field_of(jobs, "ps") for amount in demand or ZERO],
    }
    if run.scenario.trace.format == FORMAT:
        body["notes"] = run.scenario.trace.report["notes"]  # what the cut of a real cluster believes
    for model in models:
        body |= model.picture_data(cluster, field_of(jobs, "worker_type"))
    return orjson.dumps(body)


def _phase(one: scheduler_history.Charge, cls: type[BaseScheduler]) -> dict[str, Any]:
    """Scheduler and execution model from a given time on."""
    return {**one._asdict(), "model": cls.model.name, "quotes": cls.quotes, "summary": cls.summary}


def _coded(texts: list[str | None]) -> dict[str, Any] | None:
    """{words, codes}, -1 for a job without; None when no job has one."""
    words: dict[str, int] = {}
    codes = [-1 if text is None else words.setdefault(text, len(words)) for text in texts]
    return {"words": list(words), "codes": codes} if words else None


def _earlier(stages: Sequence[Stage], index: int, field: str) -> list[tuple[int, Any]]:
    """Earlier values of a server's field that edits have changed, as [(until_ms, value)]."""
    found: list[tuple[int, Any]] = []
    for stage, after in pairwise(stages):
        before, now = stage.state.cluster.servers, after.state.cluster.servers
        if index < len(before) and (value := getattr(before[index], field)) != getattr(now[index], field):
            found.append((after.at_ms, value))
    return found


def _unless_empty(key: str, value: Sequence[Any]) -> dict[str, Any]:
    return {key: value} if value else {}


def _server(server: Server, was: Sequence[tuple[int, Demand]], counted: int | None) -> dict[str, Any]:
    plain = {"name": server.name, "site": server.site, "roles": server.roles, "capacity": server.capacity}
    plain |= _unless_empty("was", was)
    lanes = _lanes(server, counted)
    # where no lanes are declared they follow from the capacity
    before = [(until_ms, _lanes(replace(server, capacity=then), counted)) for until_ms, then in was]
    if any(counts != lanes for _, counts in before):
        plain |= {"lanes_was": before}
    some = any(lanes) or any(any(counts) for _, counts in before)
    return plain | _unless_empty("away", server.away) | ({"lanes": lanes} if some else {})


def _lanes(server: Server, counted: int | None) -> list[int]:
    """Number of typed workers and of typed parameter servers."""
    return [sum(typed.lane_counts(server, role, counted).values()) for role in (0, 1)]


def snapshot(run: Run) -> bytes:
    """State after the newest event, with the status of the run."""
    with Newest(run) as state:
        meta, columns = columns_of(state)
    run.refresh_from_db()
    meta["status"] = frames.status(run)
    return pack(meta, {name: np.ascontiguousarray(column) for name, column in columns.items()})


def delays(run: Run) -> bytes:
    """Upload time of a chunk of each job: `code` [job, server; cloud last] into meta's `values` in ms, -1 is never."""
    cluster, jobs = store.of_run(run)
    given, rows = _upload_ms(jobs, len(cluster.servers))
    cloud = np.array([-1 if ms is None else ms for ms in field_of(jobs, "cloud_upload_ms")], dtype=np.int64)
    values = np.unique(np.concatenate(([0], cloud, _distinct(rows))))
    small = next(kind for kind in (np.uint8, np.uint16, np.uint32) if len(values) <= np.iinfo(kind).max)
    code = np.full((len(jobs), len(cluster.servers) + 1), np.searchsorted(values, 0), dtype=small)
    code[given, :-1] = np.searchsorted(values, rows)
    code[:, -1] = np.searchsorted(values, cloud)
    return pack({"width": code.shape[1], "values": values.tolist()}, {"code": code})


def _upload_ms(jobs: Sequence[Job], servers: int) -> tuple[np.ndarray, np.ndarray]:
    """([job] whether its delays are given, and of those the rows [.., server]); the others wait for nothing."""
    if isinstance(jobs, StoredJobs):
        begins, delays = jobs.table.uploads or (np.zeros(len(jobs) + 1, dtype=np.int64), np.empty(0, dtype=np.int64))
        return np.diff(begins) > 0, delays.reshape(-1, servers)
    rows = [job.upload_ms for job in jobs if job.upload_ms is not None]
    return np.array([job.upload_ms is not None for job in jobs], dtype=bool), np.array(rows, dtype=np.int64).reshape(
        -1, servers
    )


def _distinct(table: np.ndarray) -> np.ndarray:
    """The values of a table, each at least once; few where few occur."""
    low, high = int(table.min(initial=0)), int(table.max(initial=0))
    if high - low >= MAX_SPAN:
        return np.unique(table)
    present = np.zeros(high - low + 1, dtype=bool)
    present[table - low] = True
    return np.flatnonzero(present) + low
