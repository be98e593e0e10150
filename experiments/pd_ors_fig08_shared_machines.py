"""Machines that both roles share against machines divided between them."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, SHARED, compare, means, pd_ors_workload, table_of

TITLE = "total utility compared with OASiS on machines divided equally between the two roles"
PAPER = "PD-ORS, Fig. 8"
CLAIM = "PD-ORS has a higher utility than OASiS, and the gap widens with the number of jobs"
JOBS, SERVERS, SLOTS = (10, 20, 30, 40, 50), 100, 20
SETTING = f"{SLOTS} slots, {SERVERS} servers, {CALIBRATED}, {FROM_HISTORY}, 5 seeds"
PLAYERS = {name: SHARED[name] for name in ("PD-ORS", "OASiS")}
MIN_REAL, MAX_JOBS = 1.0, 1.1
SEEDS = 5
NEEDS = ("scipy", "highspy")
CHARTS = (Chart("total utility"),)


def run(options: Options, jobs: Sequence[int] = JOBS) -> Steps:
    workloads = {number: pd_ors_workload(number, SERVERS, SLOTS) for number in jobs}
    found = yield from compare(workloads, PLAYERS, options.seeds_or(SEEDS))
    checks = [
        Figure(f"PD-ORS / OASiS, {point} jobs", row["PD-ORS"] / row["OASiS"], "x",
               MAX_JOBS if point == JOBS[-1] else MIN_REAL, at_least=True)
        for point, row in means(found).items()
    ]  # fmt: skip
    return table_of("jobs", found, PLAYERS, checks)
