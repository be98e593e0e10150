"""Lateness of jobs on a small testbed: completion minus target."""

from __future__ import annotations

from experiments import Options, Steps
from experiments._grid import FROM_HISTORY
from experiments._lateness import LATENESS, lateness
from experiments._testbed import JOBS, SLOTS, testbed

TITLE = "completion minus target on the testbed"
PAPER = "OASiS, Fig. 8"
CLAIM = "Under OASiS, jobs also complete closest to their targets on real machines"
SETTING = (
    f"{SLOTS} slots of 20 minutes, {JOBS} jobs, 7 servers for workers and 2 for parameter servers, simulated, "
    f"{FROM_HISTORY}, 10 seeds; completed jobs only"
)
SEEDS = 10
NEEDS = ("scipy",)
CHARTS = LATENESS


def run(options: Options) -> Steps:
    return (yield from lateness(testbed, options.seeds_or(SEEDS)))
