"""The pooled LP certificate: from the jobs to a rechecked bound."""

from __future__ import annotations

import time

from benchmarks import Figure

TITLE = "certificate from the pooled LP, 50 + 50 servers, calibrated"
SIZES = ((100, 100, 0.2), (200, 100, None), (300, 300, None))  # jobs, slots, seconds at most
SEED = 3


def run() -> list[Figure]:
    """Seconds of problem, LP and dual, and what the bound is of the trivial one."""
    from scheduling.slotted.certificate import certify, recheck, trivial
    from scheduling.slotted.certificate_problem import problem
    from scheduling.workloads import generate

    figures = []
    for jobs, slots, most in SIZES:
        cluster, rows = generate(
            "oasis", variant="calibrated", num_jobs=jobs, num_servers=100, seed=SEED, horizon_slots=slots
        )
        certify(problem(cluster, rows[:5], range(5), "oasis"), 0.0)  # the solver is loaded
        began = time.perf_counter()
        task = problem(cluster, rows, range(jobs), "oasis")
        found = certify(task, 0.0)
        recheck(task, found)
        figures += [
            Figure(f"{jobs} jobs, T = {slots}", time.perf_counter() - began, "s", most),
            Figure("bound / trivial bound", found.bound / trivial(task), ""),
        ]
    return figures
