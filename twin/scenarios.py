"""From a stored scenario to the values that a simulation takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from scheduling.handover import Phase
from scheduling.model import Cluster, Job
from scheduling.registry import BaseScheduler, build
from scheduling.simulation import Simulation
from twin.edits import Stage, parse, phases
from twin.edits.base import World
from twin.formats.cluster_json import cluster_from_dict, cluster_to_dict
from twin.formats.jobs_jsonl import job_to_dict
from twin.jobtable import JobTable, pack_jobs, unpack_jobs
from twin.models import ClusterSpec, Run, Scenario, Trace


def simulation(run: Run) -> Simulation:
    """A fresh simulation of the run, before its first event."""
    return played(worlds(run.scenario, run.edits), run.scenario.seed)


def played(stages: Sequence[Stage], seed: int) -> Simulation:
    """A simulation of worlds that follow each other."""
    first = stages[0].world
    later = [
        Phase(stage.at_ms, stage.world.cluster, stage.world.jobs, _scheduler(stage.world), stage.said) for stage in stages[1:]
    ]
    return Simulation(first.cluster, first.jobs, _scheduler(first), seed, later)


def of_run(run: Run) -> tuple[Cluster, Sequence[Job]]:
    """The cluster and the jobs of a run, as its edits leave them: jobs and servers have the numbers that they have in its events."""
    world = worlds(run.scenario, run.edits)[-1].world
    return world.cluster, world.jobs


def clusters(run: Run) -> list[tuple[int, Cluster]]:
    """When each cluster of the run began, in order."""
    return [(stage.at_ms, stage.world.cluster) for stage in worlds(run.scenario, run.edits)]


def check(scenario: Scenario, edits: Sequence[Any]) -> list[Stage]:
    """The same as `worlds`; what a scheduler cannot do on one of the clusters is said here."""
    stages = worlds(scenario, edits)
    for stage in stages:
        _scheduler(stage.world).check(stage.world.cluster)
    return stages


def worlds(scenario: Scenario, edits: Sequence[Any]) -> list[Stage]:
    """What holds from which moment on, when the scenario is edited so; ModelError and UnknownName name an edit that cannot be done."""
    return _phases(_key(scenario), _frozen(edits))


def _scheduler(world: World) -> BaseScheduler:
    return build(world.scheduler, world.parameters)


def _key(scenario: Scenario) -> tuple[int, int, str, bytes]:
    return scenario.cluster_id, scenario.trace_id, scenario.scheduler, _frozen(scenario.parameters)


def _frozen(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


@lru_cache(maxsize=4)
def _phases(key: tuple[int, int, str, bytes], edits: bytes) -> list[Stage]:
    return phases(_base(key), parse(orjson.loads(edits)))


def base(scenario: Scenario) -> World:
    """What holds without edits."""
    return _base(_key(scenario))


def _base(key: tuple[int, int, str, bytes]) -> World:
    cluster, trace, scheduler, parameters = key
    return World(cluster_of(cluster), jobs_of(trace), scheduler, orjson.loads(parameters))


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
