"""Total utility of PD-ORS and five others by number of jobs."""

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

TITLE = "total utility compared with FIFO, DRF, RRH, Dorm and OASiS, by number of jobs"
PAPER = "PD-ORS, Fig. 7"
CLAIM = "PD-ORS has a much higher utility than FIFO, DRF and Dorm, and the gap grows with the number of jobs"
JOBS, SERVERS, SLOTS = (10, 30, 50), 100, 20
SETTING = (
    f"{SLOTS} slots, {SERVERS} servers, 5 seeds, {CALIBRATED} and with K as printed (literal), {FROM_HISTORY}. "
    "Reduced: three numbers of jobs. OASiS and RRH are additions to the paper's figure"
)
SEEDS = 5
NEEDS = ("scipy", "highspy")
CHARTS = tuple(Chart("total utility", variant=variant) for variant in ("calibrated", "literal"))


def run(options: Options, jobs: Sequence[int] = JOBS, variants: Sequence[str] = ("calibrated", "literal")) -> Steps:
    workloads = {
        f"{number}, {variant}": pd_ors_workload(number, SERVERS, SLOTS, variant=variant)
        for variant in variants
        for number in jobs
    }
    found = yield from compare(workloads, SHARED, options.seeds_or(SEEDS))
    checks = [
        Figure(
            f"PD-ORS / best of {len(PD_ORS_RIVALS)}, {point}",
            lead(row, "PD-ORS", PD_ORS_RIVALS),
            "x",
            PD_ORS_BAND,
            at_least=True,
        )
        for point, row in means(found).items()
    ]  # fmt: skip
    return table_of("jobs", found, SHARED, checks)
