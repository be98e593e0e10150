"""Total utility when the prices' range is estimated wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, compare, means, oasis_workload, table_of

TITLE = "total utility with wrong estimates of U / L"
PAPER = "OASiS, Fig. 6"
CLAIM = "If resources are scarce, it is better to underestimate U / L than to overestimate it"
JOBS, SLOTS, PERCENT = (100, 400), 300, (20, 50, 100, 300, 500, 1000)
SETTING = (
    f"{SLOTS} slots, 50 + 50 servers, {CALIBRATED}, {FROM_HISTORY}, 2 seeds; the price floor L is varied, as the paper "
    "does not state which bound is. Reduced: two numbers of jobs"
)

SEEDS = 2
CHARTS = (Chart("total utility", turned=True),)


def run(options: Options, jobs: Sequence[int] = JOBS, slots: int = SLOTS, percent: Sequence[int] = PERCENT) -> Steps:
    players = {
        f"{mode} {share} %": ("oasis", {"price_mode": mode, "floor_scale": 100 / share})
        for mode in ("marginal", "literal") for share in percent
    }  # fmt: skip
    workloads = {number: oasis_workload(number, slots) for number in jobs}
    found = yield from compare(workloads, players, options.seeds_or(SEEDS))
    most = means(found)[max(jobs)]
    checks = [
        Figure(f"{mode}, {max(jobs)} jobs: {percent[0]} % to {percent[-1]} %",
               most[f"{mode} {percent[0]} %"] / most[f"{mode} {percent[-1]} %"], "x", 1.0, at_least=True)
        for mode in ("marginal", "literal")
    ]  # fmt: skip
    return table_of("jobs", found, players, checks)
