"""Total utility of OASiS and four others by number of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, SEPARATE, compare, lead, means, oasis_workload, table_of

TITLE = "total utility compared with FIFO, DRF, RRH and Dorm, separate servers"
PAPER = "OASiS, Fig. 3"
CLAIM = "OASiS has the highest utility, and its lead grows with the number of jobs"
JOBS, SLOTS, DORM_JOBS = (100, 200, 300, 400), 300, 200
SETTING = (
    f"{SLOTS} slots, 50 + 50 servers, {CALIBRATED}, {FROM_HISTORY}, 3 seeds. "
    f"Reduced: Dorm, which takes minutes, only up to {DORM_JOBS} jobs"
)
BAND = 1.3
SEEDS = 3
NEEDS = ("scipy",)
CHARTS = (Chart("total utility"),)


def run(options: Options, jobs: Sequence[int] = JOBS, slots: int = SLOTS, dorm_jobs: int = DORM_JOBS) -> Steps:
    points = {num_jobs: oasis_workload(num_jobs, slots) for num_jobs in jobs}
    found = yield from compare(
        points,
        SEPARATE,
        options.seeds_or(SEEDS),
        leaves_out=lambda point, name: name == "Dorm" and point > dorm_jobs,
    )
    grid = means(found)
    checks = [
        Figure(
            f"OASiS / best other, {point} jobs", lead(row, "OASiS"), "x", BAND if point >= 200 else None, at_least=True
        )
        for point, row in grid.items()
    ]
    gaps = [row["OASiS"] - max(value for name, value in row.items() if name != "OASiS") for row in grid.values()]
    if len(gaps) > 1:
        checks.append(
            Figure("lead with the most jobs − lead with the fewest", gaps[-1] - gaps[0], "", 0.0, at_least=True)
        )
    return table_of("jobs", found, SEPARATE, checks)
