"""Total utility with sampled arrivals and the numbers of samples that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._grid import FROM_HISTORY, SHARED, compare, means, pd_ors_workload, table_of
from experiments._replay import in_order

TITLE = "total utility by number of jobs, with random arrivals and K as printed"
PAPER = "PD-ORS, Fig. 13, random arrivals"
CLAIM = "PD-ORS has a higher utility than OASiS, and OASiS a higher one than FIFO, DRF and Dorm"
JOBS, SERVERS, SLOTS = (20, 60, 100), 30, 80
SETTING = (
    f"{SLOTS} slots, {SERVERS} servers, workload with K as printed (literal), {FROM_HISTORY}, 2 seeds; the paper "
    "replays the arrivals of Google 2011, as pd_ors_fig13_trace_by_jobs does. Reduced: three numbers of jobs"
)
SEEDS = 2
NEEDS = ("scipy", "highspy")
CHARTS = (Chart("total utility"),)


def run(options: Options, jobs: Sequence[int] = JOBS) -> Steps:
    points = {number: pd_ors_workload(number, SERVERS, SLOTS, variant="literal") for number in jobs}
    found = yield from compare(points, SHARED, options.seeds_or(SEEDS))
    return table_of("jobs", found, SHARED, in_order(means(found)))
