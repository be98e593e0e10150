"""OASiS against the clairvoyant optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments import Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, Instance, Player, oasis_workload
from experiments._optimal import RATIO, against_optimum

TITLE = "optimum / utility of OASiS"
PAPER = "OASiS, Fig. 5"
CLAIM = "The optimum is 1.1 to 1.5 times the utility of OASiS, without a trend by servers or priorities"
SLOTS, JOBS = 10, 10
SERVERS, PRIORITIES = (3, 6, 9, 12), ((50, 100), (75, 100), (25, 100), (1, 100))
SETTING = (
    f"{SLOTS} slots, {JOBS} jobs, {CALIBRATED}, {FROM_HISTORY}, 10 seeds. Reduced: all numbers of servers for one "
    "range of priorities, all ranges for 6 servers. Variant: the price floor for which the theorem is proved; the "
    "theorem assumes price bounds from all jobs (clairvoyant)"
)
BAND = 1.6
SEEDS = 10
NEEDS = ("scipy",)
CHARTS = (RATIO,)
PLAYERS: Mapping[str, Player] = {
    **{mode: ("oasis", {"price_mode": mode}) for mode in ("marginal", "literal", "provable")},
    "provable, clairvoyant": ("oasis", {"price_mode": "provable", "estimate_from": "clairvoyant"}),
}


def run(
    options: Options, servers: Sequence[int] = SERVERS, priorities: Sequence[tuple[int, int]] = PRIORITIES
) -> Steps:
    settings = [(number, PRIORITIES[-1]) for number in servers] + [
        (6, spread) for spread in priorities if spread != PRIORITIES[-1]
    ]
    points = {f"{number} servers, priority {low}-{high}": _maker(number, low, high) for number, (low, high) in settings}
    return (yield from against_optimum(points, PLAYERS, "oasis", options.seeds_or(SEEDS), BAND))


def _maker(servers: int, low: int, high: int) -> Callable[[int], Instance]:
    def make(seed: int) -> Instance:
        cluster, jobs = oasis_workload(JOBS, SLOTS, servers)(seed)
        rng = np.random.default_rng([seed, 5])
        return cluster, [
            replace(job, utility=replace(job.utility, priority=float(rng.uniform(low, high))))
            for job in jobs
            if job.utility
        ]

    return make
