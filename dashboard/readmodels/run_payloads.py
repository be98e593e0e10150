"""Payloads of the run page: the static part once, the state as binary columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from dashboard.readmodels import job_table
from scheduling.model.training_models import TRAINING_TITLES
from scheduling.model.values import RESOURCE_UNITS, RESOURCES, SITES, ZERO, Cluster, Demand, Job, Server
from scheduling.typed_workers import workers as typed
from twin.analysis.covered_phases import covered
from twin.eventlog import additions, frames, large_runs
from twin.eventlog.fold import snapshot as columns_of
from twin.eventlog.state_cache import Newest
from twin.files.stored_jobs import StoredJobs, any_utility, earlier_sizes, field_of
from twin.infra.columns import pack
from twin.mirror.whatif.inputs import FORMAT
from twin.models import Run
from twin.runs import scheduler_history
from twin.runs.scheduler_history import InCharge
from twin.scenarios import store

MAX_SPAN = 1 << 24  # between the least and the largest number, up to which the distinct ones are found without sorting


def static(run: Run) -> bytes:
    """JSON of the cluster, schedulers by phase, limited resources; for each job:

    its id, model, arrival and demands (flat, thousandths, five per job).
    """
    large_runs.check(run)
    _, jobs = store.of_run(run)
    clusters = store.clusters(run)
    cluster = clusters[-1][1]
    was, away_was = _earlier(clusters, "capacity"), _earlier(clusters, "away")
    states = additions.node_states(run) if run.mode_rules.inputs_in_log else []
    in_charge = scheduler_history.in_charge(run)  # the first one, and those set by edits
    priced = _priced(run, in_charge)
    present = next(one for one in in_charge if one.charge == scheduler_history.current(run))
    models = {one.rules.model for one in in_charge}
    counted = typed.counted(cluster)
    body: dict[str, Any] = {
        "run": {
            "id": run.pk,
            "mode": run.mode,
            "began_at": run.began_at,
            "scenario": run.scenario.name,
            "seed": run.scenario.seed,
            "parameters": scheduler_history.current_parameters(run),
        },
        "scheduler": _described(present, priced)
        | {
            "quotes": any(_described(one, priced)["quotes"] for one in in_charge),
            "paper": present.scheduler.paper if present.scheduler else "",
        },
        "phases": [{"from_ms": one.charge.from_ms, **_described(one, priced)} for one in in_charge],
        "covers": covers(run),
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
                _server(server, was[i], counted)
                | _unless_empty("away_was", away_was[i])
                | _added(clusters, i)
                | _unless_empty("states", [tuple(one) for one in states[i]] if i < len(states) else ())
                for i, server in enumerate(cluster.servers)
            ],
        },
        "job_columns": [
            one.declared
            for one in job_table.COLUMNS
            if (run.mode_rules.looks_ahead or not one.ahead) and one.told(jobs)
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
    if earlier := earlier_sizes(jobs):
        body["earlier_sizes"] = {str(job): list(map(tuple, sizes)) for job, sizes in earlier.items()}
    if run.scenario.trace.format == FORMAT:
        body["notes"] = run.scenario.trace.report["notes"]  # what the cut of a real cluster believes
    for model in models:
        body |= model.picture_data(cluster, field_of(jobs, "worker_type"))
    return orjson.dumps(body)


def covers(run: Run) -> dict[str, dict[str, str]]:
    """Phases that a metric covers, {key: {title, text}}, where it does not cover the whole run."""
    return {key: {"title": one.title, "text": one.text} for key, one in covered(run).items()}


def _described(one: InCharge, priced: bool) -> dict[str, Any]:
    """Scheduler and execution model; of a scheduler that cannot be used any more, what the log states.

    priced: whether its log has prices.
    """
    cls, rules = one.scheduler, one.rules
    return {
        "name": one.charge.name,
        "title": one.charge.title,
        "model": rules.model.name,
        "quotes": priced if cls is None else cls.quotes,
        "summary": "" if cls is None else cls.summary,
        "unused": [] if cls is None else cls.unused(),
        "training": TRAINING_TITLES.get(rules.training, ""),
        **({"unavailable": rules.missing} if rules.missing else {}),
    }


def _priced(run: Run, in_charge: Sequence[InCharge]) -> bool:
    """True if the log has prices; it is read only where a scheduler does not say whether it sets any."""
    if all(one.scheduler is not None for one in in_charge):
        return False
    with Newest(run) as state:
        return bool(state.prices or state.default_prices or state.earlier_prices)


def _coded(texts: list[str | None]) -> dict[str, Any] | None:
    """{words, codes}, -1 for a job without; None when no job has one."""
    words: dict[str, int] = {}
    codes = [-1 if text is None else words.setdefault(text, len(words)) for text in texts]
    return {"words": list(words), "codes": codes} if words else None


def _earlier(clusters: Sequence[tuple[int, Cluster]], field: str) -> list[list[tuple[int, Any]]]:
    """[server] earlier values of a field that edits, or a real cluster, have changed, as [(until_ms, value)]."""
    found: list[list[tuple[int, Any]]] = [[] for _ in clusters[-1][1].servers]
    for (_, before), (until_ms, after) in pairwise(clusters):
        for own, old, new in zip(found, before.servers, after.servers, strict=False):  # servers are added at the end
            if old is not new and (value := getattr(old, field)) != getattr(new, field):
                own.append((until_ms, value))
    return found


def _added(clusters: Sequence[tuple[int, Cluster]], index: int) -> dict[str, int]:
    """Time of the edit that added the server; empty for one of the first cluster."""
    from_ms = next(from_ms for from_ms, cluster in clusters if index < len(cluster.servers))
    return {"added_ms": from_ms} if from_ms else {}


def _unless_empty(key: str, value: Sequence[Any]) -> dict[str, Any]:
    return {key: value} if value else {}


def _server(server: Server, was: Sequence[tuple[int, Demand]], counted: int | None) -> dict[str, Any]:
    plain = {"name": server.name, "site": server.site, "roles": server.roles, "capacity": server.capacity}
    plain |= _unless_empty("was", was)
    worker_slots = _worker_slots(server, counted)
    # where no workers are declared they follow from the capacity
    before = [(until_ms, _worker_slots(replace(server, capacity=then), counted)) for until_ms, then in was]
    if any(counts != worker_slots for _, counts in before):
        plain |= {"lanes_was": before}
    some = any(worker_slots) or any(any(counts) for _, counts in before)
    return plain | _unless_empty("away", server.away) | ({"lanes": worker_slots} if some else {})


def _worker_slots(server: Server, counted: int | None) -> list[int]:
    """Number of typed workers and of typed parameter servers."""
    return [sum(typed.slot_counts(server, role, counted).values()) for role in (0, 1)]


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
