"""Total utility of PD-ORS and four others as servers grow."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Figure, Options, Table
from experiments._grid import SHARED, compare, lead, pd_ors_workload, table_of

TITLE = "total utility compared with FIFO, DRF, RRH, Dorm and OASiS, by number of servers"
PAPER = "PD-ORS, Fig. 6"
CLAIM = "PD-ORS has a much higher utility than FIFO, DRF and Dorm, and the gap grows with the number of servers."
SERVERS, JOBS, SLOTS = (10, 20, 30, 60, 100), 50, 20
SETTING = (
    f"T = {SLOTS}, {JOBS} jobs, 5 seeds, calibrated and literal, from history; thinned: "
    "five numbers of servers; OASiS and RRH "
    "are added here"
)
BAND = 1.5
RIVALS = ("FIFO", "DRF", "RRH", "Dorm")


def run(
    options: Options, servers: Sequence[int] = SERVERS, variants: Sequence[str] = ("calibrated", "literal")
) -> Table:
    points = {
        f"{number}, {variant}": pd_ors_workload(JOBS, number, SLOTS, variant=variant)
        for variant in variants
        for number in servers
    }
    grid = compare(options, points, SHARED, options.seeds_or(5))
    checks = [
        Figure(f"PD-ORS / best of {len(RIVALS)}, {point}", lead(row, "PD-ORS", RIVALS), "x", BAND, at_least=True)
        for point, row in grid.items()
    ]
    for variant in variants if len(servers) > 1 else ():
        few, many = (grid[f"{number}, {variant}"] for number in (servers[0], servers[-1]))
        gaps = [row["PD-ORS"] - max(row[name] for name in RIVALS) for row in (few, many)]
        checks.append(
            Figure(f"gap at most servers - gap at fewest servers, {variant}", gaps[1] - gaps[0], "", 0.0, at_least=True)
        )
    return table_of("servers", grid, SHARED, checks)
