"""Total utility on a small testbed."""

from __future__ import annotations

from experiments import Chart, Figure, Options, Steps
from experiments._grid import FROM_HISTORY, SEPARATE, compare, lead, means, table_of
from experiments._testbed import JOBS, SLOTS, testbed

TITLE = "total utility on the testbed"
PAPER = "OASiS, Fig. 7"
CLAIM = "OASiS also has the highest utility on real machines, by a smaller margin"
SETTING = (
    f"{SLOTS} slots of 20 minutes, {JOBS} jobs, 7 servers for workers and 2 for parameter servers, simulated, "
    f"{FROM_HISTORY}, 10 seeds"
)
BAND = 0.95
SEEDS = 10
NEEDS = ("scipy",)
CHARTS = (Chart("total utility", turned=True),)


def run(options: Options) -> Steps:
    found = yield from compare({"testbed": testbed}, SEPARATE, options.seeds_or(SEEDS))
    checks = [Figure("OASiS / best other", lead(means(found)["testbed"], "OASiS"), "x", BAND, at_least=True)]
    return table_of("", found, SEPARATE, checks)
