"""Total utility of the re-planning scheduler compared with OASiS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, Player, compare, means, oasis_workload, table_of

TITLE = "total utility of Re-planning compared with OASiS, separate servers"
PAPER = "ours, on the settings of OASiS, Fig. 3"
CLAIM = (
    "Without knowledge of the future, at T = 100 with 300 jobs, Re-planning with promises earns at least 1.15 times "
    "the utility of OASiS, and without promises 1.30 times; elsewhere it never earns less than 0.98 times that utility"
)
POINTS = ((100, 100), (100, 300), (300, 100), (300, 200), (300, 300), (300, 400))  # T, jobs
SETTING = f"50 + 50 servers, {CALIBRATED}, {FROM_HISTORY}, 3 seeds"
CROWDED, MIN_REAL = (100, 300), 0.98
PLAYERS: Mapping[str, Player] = {
    "OASiS": ("oasis", {}),
    "OASiS, clairvoyant": ("oasis", {"estimate_from": "clairvoyant"}),
    "promise at start": ("replanning", {}),
    "promise at first plan": ("replanning", {"promise": "arrival"}),
    "no promise": ("replanning", {"promise": "never"}),
}
MIN_RATIO = {"promise at start": 1.15, "promise at first plan": 1.15, "no promise": 1.30}
SEEDS = 3
CHARTS = (Chart("total utility"),)


def run(options: Options, points: Sequence[tuple[int, int]] = POINTS) -> Steps:
    named = {f"T = {slots}, {jobs} jobs": (slots, jobs) for slots, jobs in points}
    workloads = {point: oasis_workload(jobs, slots) for point, (slots, jobs) in named.items()}
    found = yield from compare(workloads, PLAYERS, options.seeds_or(SEEDS))
    grid = means(found)
    checks = [
        Figure(f"{player} / OASiS, {point}", row[player] / row["OASiS"], "x",
               least if named[point] == CROWDED else MIN_REAL, at_least=True)
        for player, least in MIN_RATIO.items() for point, row in grid.items()
    ]  # fmt: skip
    return table_of("setting", found, PLAYERS, checks)
