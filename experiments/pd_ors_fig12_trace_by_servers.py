"""Total utility with the arrivals of a trace, by number of servers."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY
from experiments._replay import trace_table

TITLE = "total utility with the arrivals of a trace, by number of servers"
PAPER = "PD-ORS, Fig. 12"
CLAIM = "PD-ORS has a higher utility than OASiS, and OASiS a higher one than FIFO, DRF and Dorm"
SERVERS, JOBS, SLOTS = (10, 30, 50), 100, 80
SETTING = (
    f"{SLOTS} slots, {JOBS} jobs, {CALIBRATED}, {FROM_HISTORY}, 2 seeds; arrivals of a trace (in the paper: Google "
    "2011; on the command line: --arrivals FILE). Reduced: three numbers of servers"
)
SEEDS = 2
ARRIVALS = "required"
NEEDS = ("scipy", "highspy")
CHARTS = (Chart("total utility"),)


def run(options: Options, servers: Sequence[int] = SERVERS) -> Steps:
    return (yield from trace_table(options, "servers", {number: (JOBS, number) for number in servers}, SLOTS, SEEDS))
