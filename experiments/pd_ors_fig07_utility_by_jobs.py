"""Total utility of PD-ORS and four others as jobs grow."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Figure, Options, Table
from experiments._grid import SHARED, compare, lead, pd_ors_workload, table_of
from experiments.pd_ors_fig06_utility_by_servers import BAND, RIVALS

TITLE = "total utility compared with FIFO, DRF, RRH and Dorm, by number of jobs"
PAPER = "PD-ORS, Fig. 7"
CLAIM = "PD-ORS has a much higher utility than FIFO, DRF and Dorm, and the gap grows with the number of jobs."
JOBS, SERVERS, SLOTS = (10, 30, 50), 100, 20
SETTING = f"T = {SLOTS}, {SERVERS} servers, calibrated, from history, 5 seeds; thinned: three numbers of jobs"


def run(options: Options, jobs: Sequence[int] = JOBS) -> Table:
    grid = compare(
        options, {number: pd_ors_workload(number, SERVERS, SLOTS) for number in jobs}, SHARED, options.seeds_or(5)
    )
    checks = [
        Figure(f"PD-ORS / best of {len(RIVALS)}, {point} jobs", lead(row, "PD-ORS", RIVALS), "x", BAND, at_least=True)
        for point, row in grid.items()
    ]
    return table_of("jobs", grid, SHARED, checks)
