"""PD-ORS, one decision: the wall time of one arrival, from the job to its schedule or its rejection.

Only jobs that require a search count: not those that are too late on an empty cluster already.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import Figure
from scheduling.algorithms.pd_ors import PdOrs
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.decision import Decision
from scheduling.slotted.solvers.multi_machine_exact import Machines
from scheduling.slotted.solvers.multi_machine_lp import Relaxation
from scheduling.slotted.workload_pd_ors import pd_ors

TITLE = "PD-ORS, one decision, 100 shared servers, calibrated"
# slots, jobs, ms that the median may take with and without refinement
CASES = ((20, 100, 15.0, 3.0), (80, 200, 40.0, 6.0))
P95_MS = 150.0  # with refinement
POINT_MS = 0.15  # of the linear program, warm
SLOT_MS = 3_600_000
SEEDS = (1, 2, 3)


def run() -> list[Figure]:
    figures = []
    for slots, jobs, refined, plain in CASES:
        p50, p95 = percentiles(slots, jobs, refine=True)
        figures.append(Figure(f"T = {slots}, {jobs} jobs x {len(SEEDS)}, refined: median", p50, "ms", refined))
        figures.append(Figure(f"T = {slots}, refined: p95", p95, "ms", P95_MS))
        p50, p95 = percentiles(slots, jobs, refine=False)
        figures.append(Figure(f"T = {slots}, not refined: median", p50, "ms", plain))
        figures.append(Figure(f"T = {slots}, not refined: p95", p95, "ms"))
    figures.append(Figure("LP for one number of workers, warm start", sweep(), "ms", POINT_MS))
    return figures


def percentiles(slots: int, num_jobs: int, **parameters: Any) -> tuple[float, float]:
    """(median, p95) in ms over all decisions that are not clear at once."""
    seconds: list[float] = []
    for seed in SEEDS:
        cluster, jobs = pd_ors("calibrated", num_jobs, 100, seed, slots, SLOT_MS)
        scheduler = build("pd_ors", parameters)
        simulation = Simulation(cluster, jobs, scheduler, seed)
        thought = [
            e.data["code"] in ("payoff_positive", "payoff_not_positive", "no_capacity")
            for e in simulation.events()
            if e.kind == "decided"
        ]
        seconds += [s for s, counts in zip(simulation.decision_seconds, thought, strict=True) if counts]
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return float(p50), float(p95)


def sweep(most: int = 200) -> float:
    """ms a point of the relaxation for 1, 2, ... workers in the first slot of a loaded cluster.

    Without the building of the program.
    """
    cluster, jobs = pd_ors("calibrated", 100, 100, SEEDS[0], 20, SLOT_MS)
    scheduler = build("pd_ors")
    assert isinstance(scheduler, PdOrs)
    scheduler.start(cluster, jobs, np.random.default_rng(0))
    for index, job in enumerate(jobs):
        decision: Decision = scheduler.on_arrival(job.arrival_ms, index)
        assert decision.verdicts
    seconds, points = 0.0, 0
    for slot in (4, 8, 12, 16):
        for job in jobs[:3]:
            assert job.worker is not None
            assert job.ps is not None
            demands = [(*demand[:4], 0) for demand in (job.worker, job.ps)]
            rooms = [scheduler.book.room(demand, np.array([slot]), most)[0] for demand in demands]
            costs = [scheduler.book.unit_cost(demand, np.array([slot]))[0] for demand in demands]
            alpha, beta = (np.array(demand[:4]) for demand in demands)
            machines = Machines(scheduler.book.free[:4, slot].T, alpha, beta, costs[0], costs[1], rooms[0], rooms[1])
            relaxation = Relaxation(machines, 2.0)
            relaxation.solve(1, 1)
            began = time.perf_counter()
            for workers in range(2, most + 1):
                relaxation.solve(workers, -(-workers // (job.workers_per_ps or 1)))
            seconds += time.perf_counter() - began
            points += most - 1
    return seconds / points * 1000
