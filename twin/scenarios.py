"""From a stored scenario to the values that a simulation takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from scheduling.model import Cluster, Job
from scheduling.registry import build
from scheduling.simulation import Simulation
from twin.formats.cluster_json import cluster_from_dict, cluster_to_dict
from twin.formats.jobs_jsonl import job_to_dict
from twin.jobtable import JobTable, pack_jobs, unpack_jobs
from twin.models import ClusterSpec, Run, Scenario, Trace


def simulation(scenario: Scenario) -> Simulation:
    """A fresh simulation of the scenario, before its first event."""
    cluster = cluster_of(scenario.cluster_id)
    scheduler = build(scenario.scheduler, scenario.parameters)
    return Simulation(cluster, jobs_of(scenario.trace_id), scheduler, scenario.seed)


def of_run(run: Run) -> tuple[Cluster, Sequence[Job]]:
    """The cluster and the jobs of a run."""
    return cluster_of(run.scenario.cluster_id), jobs_of(run.scenario.trace_id)


@lru_cache(maxsize=4)
def cluster_of(spec_id: int) -> Cluster:
    """The cluster of a stored specification, which never changes once it is used."""
    return cluster_from_dict(ClusterSpec.objects.only("spec").get(pk=spec_id).spec)


@lru_cache(maxsize=2)
def jobs_of(trace_id: int) -> Sequence[Job]:
    """The jobs of a trace that is ready."""
    return [job for table in unpack_jobs(Trace.objects.only("jobs").get(pk=trace_id).jobs) for job in table.jobs()]


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
