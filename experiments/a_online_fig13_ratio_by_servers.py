"""The ratio of A_online to a lower bound of the optimum, with more servers and more speed."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._typed_workers import SEEDS, ratios, small

TITLE = "competitive ratio by number of servers, at four speeds"
PAPER = "A_online, Fig. 13"
CLAIM = (
    "The ratio is below 1.7, falls with epsilon, and is near 1 at epsilon = 0.5; the number of servers has little "
    "influence"
)
SETTING = "25 jobs, chunks of 4 to 13 h, 3 seeds; the same ratio as in Fig. 12"
NEEDS = ("scipy",)
CHARTS = (Chart("ratio to the lower bound", "x", levels=(("claim: at most", 1.7),)),)


def run(options: Options, servers: Sequence[int] = (5, 15, 25, 35, 45), jobs: int = 25) -> Steps:
    return (yield from ratios("servers", {count: small(jobs, count) for count in servers}, options.seeds_or(SEEDS)))
