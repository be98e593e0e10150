"""PD-ORS against the clairvoyant optimum."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Options, Table
from experiments._grid import pd_ors_workload
from experiments._optimal import against_optimum

TITLE = "optimum / utility of PD-ORS"
PAPER = "PD-ORS, Fig. 10"
CLAIM = "The optimum is 1.0 to 1.4 times the utility of PD-ORS."
SLOTS, JOBS, SERVERS = 10, 10, (2, 4, 8)
SETTING = (
    f"T = {SLOTS}, {JOBS} jobs, calibrated, from history, 5 seeds; "
    "the number of servers is chosen here, the paper does not state it"
)
BAND = 1.5
PLAYERS = {mode: ("pd_ors", {"price_mode": mode}) for mode in ("marginal", "literal")}


def run(options: Options, servers: Sequence[int] = SERVERS) -> Table:
    points = {f"{number} servers": pd_ors_workload(JOBS, number, SLOTS) for number in servers}
    return against_optimum(options, points, PLAYERS, "pd-ors", options.seeds_or(5), BAND)
