"""What the run page draws from: the static part once, the state as binary columns."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from dashboard.encodings import takes_gzip
from dashboard.states import Newest
from scheduling import typed
from scheduling.model import RESOURCE_UNITS, RESOURCES, SITES, ZERO, Cluster, Job, Role, Server
from scheduling.registry import build, scheduler_class
from scheduling.training import LIMITS
from twin import scenarios, wire
from twin.columns import pack
from twin.edits import Stage
from twin.models import Run
from twin.state import snapshot as columns_of


def static(request: HttpRequest, run: Run) -> HttpResponse:
    """Cluster, scheduler, what servers run out of, and of each job its id, model, arrival and demands (flat, thousandths, five a job)."""
    cluster, jobs = scenarios.of_run(run)
    cls = scheduler_class(run.scenario.scheduler)
    stages = scenarios.worlds(run.scenario, run.edits)
    in_charge = [scheduler_class(stage.world.scheduler) for stage in stages]  # the first, and those that edits brought
    world = build(cls.name, run.scenario.parameters).model_on(cluster)
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
            "lanes": any(one.lanes for one in in_charge),
            "groups": any(one.groups for one in in_charge),
            "quotes": cls.quotes,
            "paper": cls.paper,
            "summary": cls.summary,
        },
        "resources": RESOURCES,
        "limits": LIMITS.get(world or "", RESOURCES),
        "units": RESOURCE_UNITS,
        "sites": SITES,
        "cluster": {
            "name": cluster.name,
            "slot_ms": cluster.slot_ms,
            "horizon_slots": cluster.horizon_slots,
            "cloud": cluster.unlimited_cloud,
            "servers": [_server(server, _capacities(stages, i)) for i, server in enumerate(cluster.servers)],
        },
        "worth": any(job.utility is not None for job in jobs),
        "ids": [job.id for job in jobs],
        "models": [job.model for job in jobs],
        "users": _coded([job.user for job in jobs]),
        "groups": _coded([job.group for job in jobs]),
        "arrival_ms": [job.arrival_ms for job in jobs],
        "worker": [amount for job in jobs for amount in job.worker or ZERO],
        "ps": [amount for job in jobs for amount in job.ps or ZERO],
    }
    if cls.lanes:
        body["lanes"] = _lanes(cluster, jobs)
    return answered(request, orjson.dumps(body), "application/json")


def _lanes(cluster: Cluster, jobs: Sequence[Job]) -> dict[str, Any]:
    """The types of workers, the place of each job's in them, -1 where there is none, and how many each server has of each."""
    workers = typed.lanes(cluster, int(Role.WORKER))
    places = {kind: place for place, kind in enumerate(workers.kinds)}
    counts = np.zeros((len(cluster.servers), len(workers.kinds)), dtype=np.int64)
    np.add.at(counts, (workers.server, workers.kind), 1)
    kinds = [places.get(workers.name(job.worker_type) or "", -1) for job in jobs]
    return {"kinds": workers.kinds, "of_job": kinds, "workers": counts.tolist()}


def _coded(texts: list[str | None]) -> dict[str, Any] | None:
    """{words, codes}, -1 for a job without; None when no job has one."""
    words: dict[str, int] = {}
    codes = [-1 if text is None else words.setdefault(text, len(words)) for text in texts]
    return {"words": list(words), "codes": codes} if words else None


def _capacities(stages: Sequence[Stage], index: int) -> list[tuple[int, Sequence[int]]]:
    """[(until_ms, capacity)] of a server before edits gave it what it has in the end."""
    found: list[tuple[int, Sequence[int]]] = []
    for stage, after in pairwise(stages):
        before, now = stage.world.cluster.servers, after.world.cluster.servers
        if index < len(before) and before[index].capacity != now[index].capacity:
            found.append((after.at_ms, before[index].capacity))
    return found


def _server(server: Server, was: Sequence[tuple[int, Sequence[int]]]) -> dict[str, Any]:
    plain = {"name": server.name, "site": server.site, "roles": server.roles, "capacity": server.capacity}
    plain |= {"was": was} if was else {}
    lanes = [sum(server.worker_lanes.values()), sum(server.ps_lanes.values())]
    return plain | ({"away": server.away} if server.away else {}) | ({"lanes": lanes} if any(lanes) else {})


def snapshot(request: HttpRequest, run: Run) -> HttpResponse:
    """The state after the newest event, and where the run stands."""
    with Newest(run) as state:
        meta, columns = columns_of(state)
    run.refresh_from_db()
    meta["status"] = wire.status(run)
    body = pack(meta, {name: np.ascontiguousarray(column) for name, column in columns.items()})
    return answered(request, body, "application/octet-stream")


def delays(request: HttpRequest, run: Run) -> HttpResponse:
    """How long a chunk of each job uploads: `code` [job, server, and the cloud last] into meta's `values` in ms, where -1 is never."""
    cluster, jobs = scenarios.of_run(run)
    width = len(cluster.servers) + 1
    table = np.zeros((len(jobs), width), dtype=np.int64)
    for index, job in enumerate(jobs):
        if job.upload_ms is not None:
            table[index, :-1] = job.upload_ms
        table[index, -1] = -1 if job.cloud_upload_ms is None else job.cloud_upload_ms
    values, code = np.unique(table, return_inverse=True)
    small = next(kind for kind in (np.uint8, np.uint16, np.uint32) if len(values) <= np.iinfo(kind).max)
    body = pack({"width": width, "values": values.tolist()}, {"code": code.reshape(table.shape).astype(small)})
    return answered(request, body, "application/octet-stream")


def answered(request: HttpRequest, body: bytes, kind: str) -> HttpResponse:
    """Zipped for who takes that, faster than Django's middleware does it."""
    zipped = takes_gzip(request)
    answer = HttpResponse(gzip.compress(body, compresslevel=1) if zipped else body, content_type=kind)
    if zipped:
        answer["Content-Encoding"] = "gzip"
    patch_vary_headers(answer, ("Accept-Encoding",))
    answer["Cache-Control"] = "no-store"
    return answer
