"""Total utility on a small testbed."""

from __future__ import annotations

from twin.experiments import Ask, Figure, Table
from twin.experiments._grid import SEPARATE, compare, lead, table_of
from twin.experiments._testbed import JOBS, SLOTS, testbed

TITLE = "total utility on the testbed"
PAPER = "OASiS, Fig. 7"
CLAIM = "OASiS earns most on real machines, too, by less."
SETTING = f"T = {SLOTS} of 20 minutes, {JOBS} jobs, 7 + 2 servers, simulated, 10 seeds"
BAND = 0.95


def run(ask: Ask) -> Table:
    grid = compare(ask, {"testbed": testbed}, SEPARATE, ask.seeds_or(10))
    checks = [Figure("OASiS to the best other", lead(grid["testbed"], "OASiS"), "x", BAND, at_least=True)]
    return table_of("", grid, SEPARATE, checks)
