"""Small clusters and jobs of typed workers, and their runs: numbers that can be followed by hand."""

import json

from scheduling.kernel.realized_schedule import Futures
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Cluster, Job, Server


def run(cluster, jobs, name="a_online", seed=0, **parameters):
    return list(Simulation(cluster, jobs, build(name, parameters), seed).events())


def bars_of(events):
    futures = Futures()
    for event in events:
        futures.feed(event)
    return futures.matrix()


def machine(name="s0", workers=1, ps=4, storage_mb=1_000, **changes):
    return Server(
        name, "edge", (8_000, 8_000, 0, storage_mb, 0), worker_lanes={"a": workers}, ps_lanes={"x": ps}, **changes
    )


def world(*servers, cloud=False, horizon=None):
    return Cluster("small", 10, servers, horizon, unlimited_cloud=cloud)


def job(name, arrival_ms, work_ms, *, chunks=1, upload=(0,), cloud=None, kind="a", **changes):
    """Each chunk takes work_ms: no exchange."""
    return Job(
        name, arrival_ms, epochs=1, num_chunks=chunks, minibatches_per_chunk=1, minibatch_ms=float(work_ms),
        worker_type=kind, ps_type="x", upload_ms=upload, cloud_upload_ms=cloud, **changes,
    )  # fmt: skip


def decisions_of(events, kind):
    return [
        (e.data["job"], e.data["kind"], e.data["values"])
        for e in events
        if e.kind == "decided" and e.data["kind"] == kind
    ]


def encoded(events):
    return [json.dumps(event, default=lambda array: array.tolist()) for event in events]
