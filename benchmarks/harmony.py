"""Algorithm 1 of Harmony, numpy only, and a whole run of the paper's 80 jobs."""

from __future__ import annotations

import time

import numpy as np

from benchmarks import Figure
from scheduling.colocation.selection.group_selection import schedule
from scheduling.colocation.selection.grouping import Work
from scheduling.colocation.subtasks import window
from scheduling.colocation.workload import harmony, table1
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation

TITLE = "Harmony: one decision of Algorithm 1, runs of 80 jobs on 100 machines and of 1,000 on 200"
SIZES = ((80, 100, 20.0), (1_000, 1_000, 40.0), (8_000, 10_000, 150.0))  # jobs, machines, ms that the median may take
SEEDS = (0, 1, 2)
REPEATS = 5
RUN_S = 0.5
LARGE = (1_000, 200, 10.0)  # jobs, machines, s
LOOK_MS = 10.0  # subtasks of a minute or so of a group that has run for days


def run() -> list[Figure]:
    figures = []
    for jobs, machines, most in SIZES:
        figures.append(
            Figure(
                f"{jobs:,} jobs, {machines:,} machines: median",
                float(np.median([_decision(jobs, machines, s) for s in SEEDS])),
                "ms",
                most,
            )
        )
    figures.append(
        Figure("run of 80 jobs on 100 machines: median", float(np.median([_whole(seed) for seed in SEEDS])), "s", RUN_S)
    )
    jobs, machines, most_s = LARGE
    figures.append(Figure(f"a run of {jobs:,} jobs on {machines:,} machines", _whole(0, jobs, machines), "s", most_s))
    figures.append(Figure("subtasks of a window late in a group", _look(), "ms", LOOK_MS))
    return figures


def _decision(jobs: int, machines: int, seed: int) -> float:
    """Median time of a decision, in ms."""
    rows = table1(np.random.default_rng([seed, 2]), jobs)
    comp, comm = np.array([row.comp_machine_ms for row in rows]), np.array([row.comm_ms for row in rows])
    work = Work(comp, comm, machines, np.zeros(jobs), np.zeros(jobs))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        schedule(work)
        times.append(time.perf_counter() - began)
    return float(np.median(times)) * 1000


def _whole(seed: int, count: int = 80, machines: int = 100) -> float:
    cluster, jobs = harmony("calibrated", count, machines, seed, None, 60_000)
    began = time.perf_counter()
    for _ in Simulation(cluster, jobs, build("harmony"), seed).events():
        pass
    return time.perf_counter() - began


def _look() -> float:
    rows = table1(np.random.default_rng([0, 2]), 4)
    comp, comm = [row.comp_machine_ms / 16 for row in rows], [row.comm_ms for row in rows]
    began = time.perf_counter()
    window(comp, comm, 0.0, 1e9, 1e9 + 60 * (sum(comp) + sum(comm)) / 2)
    return (time.perf_counter() - began) * 1000
