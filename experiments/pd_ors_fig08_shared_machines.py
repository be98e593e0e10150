"""Machines that both roles share against machines divided between them."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Figure, Options, Table
from experiments._grid import SHARED, compare, pd_ors_workload, table_of

TITLE = "total utility compared with OASiS on machines divided half and half"
PAPER = "PD-ORS, Fig. 8"
CLAIM = "PD-ORS has a higher utility than OASiS, and the gap widens with the number of jobs."
JOBS, SERVERS, SLOTS = (10, 20, 30, 40, 50), 100, 20
SETTING = f"T = {SLOTS}, {SERVERS} servers, calibrated, from history, 5 seeds"
PLAYERS = {name: SHARED[name] for name in ("PD-ORS", "OASiS")}
LEAST, AT_MOST_JOBS = 1.0, 1.1


def run(options: Options, jobs: Sequence[int] = JOBS) -> Table:
    grid = compare(
        options, {number: pd_ors_workload(number, SERVERS, SLOTS) for number in jobs}, PLAYERS, options.seeds_or(5)
    )
    checks = [
        Figure(f"PD-ORS / OASiS, {point} jobs", row["PD-ORS"] / row["OASiS"], "x",
               AT_MOST_JOBS if point == JOBS[-1] else LEAST, at_least=True)
        for point, row in grid.items()
    ]  # fmt: skip
    return table_of("jobs", grid, PLAYERS, checks)
