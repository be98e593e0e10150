"""The ratio of A_online to a lower bound of the optimum, with more jobs and more speed."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._typed_workers import SEEDS, ratios, small

TITLE = "competitive ratio by number of jobs, at four speeds"
PAPER = "A_online, Fig. 12"
CLAIM = (
    "The ratio is below 1.7, falls with epsilon, and is near 1 at epsilon = 0.5; the number of jobs has little "
    "influence"
)
SETTING = (
    "10 servers, chunks of 4 to 13 h, 3 seeds; fractional flow of A_online at speed 1 + epsilon / relaxed ILP (4) at "
    "speed 1, all in one location. The ratio can be below 1, because the algorithm has the higher speed"
)
NEEDS = ("scipy",)
CHARTS = (Chart("ratio to the lower bound", "x", levels=(("claim: at most", 1.7),)),)


def run(options: Options, jobs: Sequence[int] = (5, 10, 15, 20, 25), servers: int = 10) -> Steps:
    return (yield from ratios("jobs", {count: small(count, servers) for count in jobs}, options.seeds_or(SEEDS)))
