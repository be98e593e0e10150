"""Total utility with the arrivals of a trace, by number of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY
from experiments._replay import trace_table

TITLE = "total utility with the arrivals of a trace, by number of jobs"
PAPER = "PD-ORS, Fig. 13"
CLAIM = "PD-ORS has a higher utility than OASiS, and OASiS a higher one than FIFO, DRF and Dorm"
JOBS, SERVERS, SLOTS = (20, 60, 100), 30, 80
SETTING = (
    f"{SLOTS} slots, {SERVERS} servers, {CALIBRATED}, {FROM_HISTORY}, 2 seeds; arrivals of a trace (in the paper: "
    "Google 2011; on the command line: --arrivals FILE). Reduced: three numbers of jobs"
)
SEEDS = 2
ARRIVALS = "required"
NEEDS = ("scipy", "highspy")
CHARTS = (Chart("total utility"),)


def run(options: Options, jobs: Sequence[int] = JOBS) -> Steps:
    return (yield from trace_table(options, "jobs", {number: (number, SERVERS) for number in jobs}, SLOTS, SEEDS))
