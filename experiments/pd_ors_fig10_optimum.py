"""PD-ORS against the clairvoyant optimum."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, pd_ors_workload
from experiments._optimal import RATIO, against_optimum

TITLE = "optimum / utility of PD-ORS"
PAPER = "PD-ORS, Fig. 10"
CLAIM = "The optimum is 1.0 to 1.4 times the utility of PD-ORS"
SLOTS, JOBS, SERVERS = 10, 10, (2, 4, 8)
SETTING = (
    f"{SLOTS} slots, {JOBS} jobs, {CALIBRATED}, {FROM_HISTORY}, 5 seeds; the number of servers is our choice, as the "
    "paper does not state it"
)
BAND = 1.5
SEEDS = 5
NEEDS = ("scipy", "highspy")
CHARTS = (RATIO,)
PLAYERS = {mode: ("pd_ors", {"price_mode": mode}) for mode in ("marginal", "literal")}


def run(options: Options, servers: Sequence[int] = SERVERS) -> Steps:
    points = {f"{number} servers": pd_ors_workload(JOBS, number, SLOTS) for number in servers}
    return (yield from against_optimum(points, PLAYERS, "pd-ors", options.seeds_or(SEEDS), BAND))
