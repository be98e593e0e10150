"""Total utility of PD-ORS and five others by number of servers."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import (
    CALIBRATED,
    FROM_HISTORY,
    PD_ORS_BAND,
    PD_ORS_RIVALS,
    SHARED,
    compare,
    lead,
    means,
    pd_ors_workload,
    table_of,
)

TITLE = "total utility compared with FIFO, DRF, RRH, Dorm and OASiS, by number of servers"
PAPER = "PD-ORS, Fig. 6"
CLAIM = "PD-ORS has a much higher utility than FIFO, DRF and Dorm, and the gap grows with the number of servers"
SERVERS, JOBS, SLOTS = (10, 20, 30, 60, 100), 50, 20
SETTING = (
    f"{SLOTS} slots, {JOBS} jobs, 5 seeds, {CALIBRATED} and with K as printed (literal), {FROM_HISTORY}. "
    "Reduced: five numbers of servers. OASiS and RRH are additions to the paper's figure"
)
SEEDS = 5
NEEDS = ("scipy", "highspy")
CHARTS = tuple(Chart("total utility", variant=variant) for variant in ("calibrated", "literal"))


def run(
    options: Options, servers: Sequence[int] = SERVERS, variants: Sequence[str] = ("calibrated", "literal")
) -> Steps:
    points = {
        f"{number}, {variant}": pd_ors_workload(JOBS, number, SLOTS, variant=variant)
        for variant in variants
        for number in servers
    }
    found = yield from compare(points, SHARED, options.seeds_or(SEEDS))
    grid = means(found)
    checks = [
        Figure(
            f"PD-ORS / best of {len(PD_ORS_RIVALS)}, {point}",
            lead(row, "PD-ORS", PD_ORS_RIVALS),
            "x",
            PD_ORS_BAND,
            at_least=True,
        )
        for point, row in grid.items()
    ]  # fmt: skip
    for variant in variants if len(servers) > 1 else ():
        few, many = (grid[f"{number}, {variant}"] for number in (servers[0], servers[-1]))
        gaps = [row["PD-ORS"] - max(row[name] for name in PD_ORS_RIVALS) for row in (few, many)]
        checks.append(
            Figure(
                f"gap with the most servers − gap with the fewest, {variant}", gaps[1] - gaps[0], "", 0.0, at_least=True
            )
        )
    return table_of("servers", found, SHARED, checks)
