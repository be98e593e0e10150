"""Total utility with the arrivals of a trace, by number of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._replay import trace_table

TITLE = "total utility with the arrivals of a trace, by number of jobs"
PAPER = "PD-ORS, Fig. 13"
CLAIM = "PD-ORS has a higher utility than OASiS, and OASiS a higher one than FIFO, DRF and Dorm"
JOBS, SERVERS, SLOTS = (20, 60, 100), 30, 80
SETTING = (
    f"T = {SLOTS}, {SERVERS} servers, calibrated, from history, 2 seeds, --arrivals FILE (the paper's is Google 2011); "
    "thinned: three numbers of jobs"
)
SEEDS = 2
ARRIVALS = "required"
CHARTS = (Chart("total utility"),)


def run(options: Options, jobs: Sequence[int] = JOBS) -> Steps:
    return (yield from trace_table(options, "jobs", {number: (number, SERVERS) for number in jobs}, SLOTS, SEEDS))
