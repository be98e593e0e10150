"""Total utility on a small testbed."""

from __future__ import annotations

from experiments import Figure, Options, Table
from experiments._grid import SEPARATE, compare, lead, table_of
from experiments._testbed import JOBS, SLOTS, testbed

TITLE = "total utility on the testbed"
PAPER = "OASiS, Fig. 7"
CLAIM = "OASiS has the highest utility on real machines, too, by a smaller margin."
SETTING = f"T = {SLOTS} of 20 minutes, {JOBS} jobs, 7 + 2 servers, simulated, from history, 10 seeds"
BAND = 0.95


def run(options: Options) -> Table:
    grid = compare(options, {"testbed": testbed}, SEPARATE, options.seeds_or(10))
    checks = [Figure("OASiS / best other", lead(grid["testbed"], "OASiS"), "x", BAND, at_least=True)]
    return table_of("", grid, SEPARATE, checks)
