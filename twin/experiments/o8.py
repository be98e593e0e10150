"""How far jobs complete from their targets on a small testbed."""

from __future__ import annotations

from twin.experiments import Ask, Table
from twin.experiments._lateness import lateness
from twin.experiments._testbed import JOBS, SLOTS, testbed

TITLE = "completion less target on the testbed"
PAPER = "OASiS, Fig. 8"
CLAIM = "Under OASiS jobs complete closest to their targets on real machines, too."
SETTING = f"T = {SLOTS} of 20 minutes, {JOBS} jobs, 7 + 2 servers, simulated, 10 seeds; of completed jobs only"


def run(ask: Ask) -> Table:
    return lateness(ask, [testbed(seed) for seed in ask.seeds_or(10)])
