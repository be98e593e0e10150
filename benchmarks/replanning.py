"""The re-planning scheduler: processor time of a run against that of OASiS on the same jobs."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time
from typing import Any

from benchmarks import Figure
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.workloads import generate

TITLE = "Re-planning against OASiS, processor time, 50 + 50 servers, calibrated"
CASES = ((100, 300), (300, 400))  # slots, jobs
MAX_RATIO = 5.0  # times OASiS
SEEDS = range(3)


def run() -> list[Figure]:
    return [
        Figure(f"T = {slots}, {jobs} jobs: Re-planning / OASiS{title}", _ratio(slots, jobs, parameters), "x", MAX_RATIO)
        for slots, jobs in CASES
        for title, parameters in (("", {}), (", no promise", {"promise": "never"}))
    ]


def _ratio(slots: int, jobs: int, parameters: Mapping[str, Any]) -> float:
    return _seconds(slots, jobs, "replanning", parameters) / _seconds(slots, jobs, "oasis", {})


def _seconds(slots: int, jobs: int, scheduler: str, parameters: Mapping[str, Any]) -> float:
    """Time of all runs of a scheduler."""
    instances = [generate("oasis", num_jobs=jobs, num_servers=100, seed=seed, horizon_slots=slots) for seed in SEEDS]
    began = process_time()
    for cluster, rows in instances:
        for _ in simulate(cluster, rows, build(scheduler, parameters), 0):
            pass
    return process_time() - began
