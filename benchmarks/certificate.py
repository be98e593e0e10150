"""Certificates of slotted schedules: from the jobs to a rechecked bound, and the share that PD-ORS proves with it."""

from __future__ import annotations

import time

from benchmarks import Figure

TITLE = "certificates: pooled LP (50 + 50 servers) and branched (shared servers), calibrated"
SIZES = ((100, 100, 0.2), (200, 100, None), (300, 300, None))  # jobs, slots, seconds at most
SEED = 3
SHARED = ((50, 100, 20, 0.97), (50, 20, 20, 0.75), (50, 10, 20, None), (100, 30, 80, 0.85))
SEEDS = (0, 1)
MAX_S = 2.0


def run() -> list[Figure]:
    """Seconds of problem, bounds and recheck, and what the bound is of the trivial one or proves."""
    return [*_pooled(), *_branched()]


def _pooled() -> list[Figure]:
    """OASiS's workload, whose relaxation prices the bound; the search takes its own time."""
    from scheduling.slotted.certificate import dual_bound, pooled_lp, trivial
    from scheduling.slotted.certificate_problem import problem
    from scheduling.workloads import generate

    figures = []
    for jobs, slots, most in SIZES:
        cluster, rows = generate(
            "oasis", variant="calibrated", num_jobs=jobs, num_servers=100, seed=SEED, horizon_slots=slots
        )
        pooled_lp(problem(cluster, rows[:5], range(5), "oasis"))  # the solver is loaded
        began = time.perf_counter()
        task = problem(cluster, rows, range(jobs), "oasis")
        solved = pooled_lp(task)
        assert solved is not None
        bound = dual_bound(task, solved[1])
        figures += [
            Figure(f"{jobs} jobs, T = {slots}", time.perf_counter() - began, "s", most),
            Figure("bound / trivial bound", bound / trivial(task), ""),
        ]
    return figures


def _branched() -> list[Figure]:
    """PD-ORS's workload, its utility with estimates that know all jobs."""
    from scheduling.kernel.registry import build
    from scheduling.kernel.simulation import simulate
    from scheduling.slotted.certificate import certify, ratio, recheck
    from scheduling.slotted.certificate_problem import problem
    from scheduling.workloads import generate

    figures = []
    for jobs, servers, slots, least in SHARED:
        for seed in SEEDS:
            cluster, rows = generate(
                "pd-ors", variant="calibrated", num_jobs=jobs, num_servers=servers, seed=seed, horizon_slots=slots
            )
            scheduler = build("pd_ors", {"estimate_from": "clairvoyant"})
            achieved = sum(
                event.data["utility"]
                for event in simulate(cluster, rows, scheduler, 0)
                if event.kind == "job_completed"
            )
            began = time.perf_counter()
            task = problem(cluster, rows, range(jobs), "pd-ors")
            found = certify(task, achieved)
            recheck(task, found)
            took = time.perf_counter() - began
            name = f"{jobs} jobs, {servers} servers, T = {slots}, seed {seed}"
            figures += [
                Figure(name, took, "s", MAX_S),
                Figure("proved share of PD-ORS", ratio(found) or 0.0, "", least, at_least=True),
            ]
    return figures
