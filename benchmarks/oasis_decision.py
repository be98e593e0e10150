"""OASiS, one decision: the wall time of one arrival, from the job to its schedule or its rejection."""

from __future__ import annotations

import numpy as np

from benchmarks import Figure
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.workloads import generate

TITLE = "OASiS, one decision, 50 + 50 servers, calibrated"
CASES = ((100, 400, 1.0), (300, 400, 3.0))  # slots, jobs, ms that the median may take
P95_MS = 10.0


def run() -> list[Figure]:
    figures = []
    for slots, jobs, bound in CASES:
        p50, p95 = percentiles(slots, jobs)
        figures.append(Figure(f"T = {slots}, {jobs} jobs: median", p50, "ms", bound))
        figures.append(Figure(f"T = {slots}, {jobs} jobs: p95", p95, "ms", P95_MS))
    return figures


def percentiles(slots: int, num_jobs: int) -> tuple[float, float]:
    """(median, p95) in ms over all decisions of a run."""
    cluster, jobs = generate("oasis", num_jobs=num_jobs, num_servers=100, seed=1, horizon_slots=slots)
    simulation = Simulation(cluster, jobs, build("oasis"), 1)
    for _ in simulation.events():
        pass
    p50, p95 = np.percentile(simulation.decision_seconds, [50, 95]) * 1000
    return float(p50), float(p95)
