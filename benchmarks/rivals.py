"""Gavel and Themis on 1,000 jobs and 100 servers: processor time of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import process_time

from benchmarks import Figure
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate

TITLE = "Gavel and Themis, 1,000 jobs on 100 servers, processor time"
JOBS, SERVERS, SLOTS = 1_000, 100, 200
SPEEDS = (1.0, 2.0, 4.0)  # of machines, for Gavel
MAX_S = 60.0


def run() -> list[Figure]:
    machines, rows = generate("harmony", num_jobs=JOBS, num_servers=SERVERS, arrivals="poisson", mean_minutes=8)
    unlike = tuple(replace(one, speed=SPEEDS[i % len(SPEEDS)]) for i, one in enumerate(machines.servers))
    figures = [
        Figure("gavel, equal machines", _seconds("gavel", machines, rows), "s", MAX_S),
        Figure("gavel, three speeds", _seconds("gavel", replace(machines, servers=unlike), rows), "s", MAX_S),
    ]
    for profile in ("oasis", "pd-ors"):
        servers, jobs = generate(profile, num_jobs=JOBS, num_servers=SERVERS, horizon_slots=SLOTS)
        figures.append(Figure(f"themis, {profile}", _seconds("themis", servers, jobs), "s", MAX_S))
    return figures


def _seconds(scheduler: str, cluster: Cluster, jobs: Sequence[Job]) -> float:
    began = process_time()
    for _ in simulate(cluster, jobs, build(scheduler), 0):
        pass
    return process_time() - began
