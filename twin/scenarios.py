"""From a stored scenario to the values that a simulation takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from scheduling.model import Cluster, Job, ModelError
from scheduling.registry import build
from scheduling.simulation import Simulation
from twin.edits import parse, phases
from twin.edits.base import World
from twin.edits.moments import moment
from twin.formats.cluster_json import cluster_from_dict, cluster_to_dict
from twin.formats.jobs_jsonl import job_to_dict
from twin.jobtable import JobTable, pack_jobs, unpack_jobs
from twin.models import ClusterSpec, Run, Scenario, Trace


def simulation(run: Run) -> Simulation:
    """A fresh simulation of the run, before its first event."""
    world = edited(run.scenario, run.edits)
    return Simulation(world.cluster, world.jobs, build(world.scheduler, world.parameters), run.scenario.seed)


def of_run(run: Run) -> tuple[Cluster, Sequence[Job]]:
    """The cluster and the jobs of a run, as its edits made them."""
    world = edited(run.scenario, run.edits)
    return world.cluster, world.jobs


def edited(scenario: Scenario, edits: Sequence[Any]) -> World:
    """What a run of the scenario plays; ModelError for edits that take effect after it has begun."""
    found = worlds(scenario, edits)
    if len(found) > 1:
        raise ModelError(
            f"edits are played from the beginning of a run, and one takes effect at {moment(found[1][0])}; give it at_ms 0, or leave it out"
        )
    return found[0][1]


def worlds(scenario: Scenario, edits: Sequence[Any]) -> list[tuple[int, World]]:
    """What holds from which moment on, when the scenario is edited so; ModelError and UnknownName name an edit that cannot be done."""
    return _phases(_key(scenario), _frozen(edits))


def _key(scenario: Scenario) -> tuple[int, int, str, bytes]:
    return scenario.cluster_id, scenario.trace_id, scenario.scheduler, _frozen(scenario.parameters)


def _frozen(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


@lru_cache(maxsize=4)
def _phases(key: tuple[int, int, str, bytes], edits: bytes) -> list[tuple[int, World]]:
    cluster, trace, scheduler, parameters = key
    base = World(cluster_of(cluster), jobs_of(trace), scheduler, orjson.loads(parameters))
    return phases(base, parse(orjson.loads(edits)))


@lru_cache(maxsize=4)
def cluster_of(spec_id: int) -> Cluster:
    """The cluster of a stored specification, which never changes once it is used."""
    return cluster_from_dict(ClusterSpec.objects.only("spec").get(pk=spec_id).spec)


@lru_cache(maxsize=2)
def jobs_of(trace_id: int) -> Sequence[Job]:
    """The jobs of a trace that is ready."""
    return [job for table in unpack_jobs(Trace.objects.only("jobs").get(pk=trace_id).jobs) for job in table.jobs()]


def forget() -> None:
    """Drops what is kept in memory, where numbers of rows are used again."""
    for kept in (cluster_of, jobs_of, _phases):
        kept.cache_clear()


def store_cluster(cluster: Cluster, source: str, trace: Trace | None = None) -> ClusterSpec:
    """Keeps a cluster for scenarios to choose."""
    return ClusterSpec.objects.create(
        name=cluster.name, source=source[:200], trace=trace, spec=cluster_to_dict(cluster), server_count=len(cluster.servers)
    )


def store_generated(name: str, cluster: Cluster, jobs: Sequence[Job], seed: int) -> tuple[ClusterSpec, Trace]:
    """Keeps a generated workload as a trace and its cluster."""
    from twin.importers.imports import PREVIEW
    from twin.importers.report import Origins

    table, origins = JobTable.of(jobs), Origins()
    origins.add(table)
    trace = Trace.objects.create(
        name=name, format="generated", status=Trace.READY, progress=1, seed=seed, job_count=len(jobs),
        server_count=len(cluster.servers), jobs=pack_jobs([table]), preview=[job_to_dict(job) for job in jobs[:PREVIEW]],
        report={"rows": len(jobs), "imported": len(jobs), "skipped": [], "provenance": origins.plain()},
    )  # fmt: skip
    return store_cluster(cluster, f"generated with {name}", trace), trace


def describe(scenario: Scenario) -> dict[str, Any]:
    """A scenario in one plain row."""
    return {
        "id": scenario.pk,
        "name": scenario.name,
        "cluster": scenario.cluster.name,
        "trace": scenario.trace.name,
        "scheduler": scenario.scheduler,
        "parameters": scenario.parameters,
        "seed": scenario.seed,
    }
