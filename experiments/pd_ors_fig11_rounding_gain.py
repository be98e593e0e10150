"""The gain of the randomized rounding."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import compare, means, pd_ors_workload, table_of

TITLE = "total utility by rounding gain G"
PAPER = "PD-ORS, Fig. 11"
CLAIM = "The ratio is best at G = 1 and far below its bound everywhere."
GAINS, JOBS, SLOTS, SETTINGS = (0.2, 0.6, 0.8, 1.0, 1.2), 50, 20, ((100, 10.0), (20, 1.0))
SETTING = (
    f"T = {SLOTS}, {JOBS} jobs, calibrated, from history, mode paper, 1 seed; thinned: 50 roundings instead of 5000, "
    "five gains. With 100 servers jobs run "
    "on one machine and nothing is rounded, so 20 servers with equal internal and external bandwidth are run as well"
)
NEAR_ONE = (0.8, 1.0, 1.2)
SEEDS = 1
CHARTS = (Chart("total utility", turned=True),)


def run(options: Options, settings: Sequence[tuple[int, float]] = SETTINGS, gains: Sequence[float] = GAINS) -> Steps:
    players = {f"G = {gain}": ("pd_ors", {"mode": "paper", "rounding_gain": gain}) for gain in gains}
    points = {
        f"{servers}, kappa {kappa:g}": pd_ors_workload(JOBS, servers, SLOTS, kappa=kappa) for servers, kappa in settings
    }
    found = yield from compare(points, players, options.seeds_or(SEEDS))
    checks = []
    for point, row in means(found).items():
        best = max(row[f"G = {gain}"] for gain in gains if gain in NEAR_ONE)
        checks.append(
            Figure(f"best of G 0.8-1.2 / best of all, {point}", best / max(row.values()), "x", 1.0, at_least=True)
        )
        checks.append(Figure(f"best of all / worst, {point}", max(row.values()) / min(row.values()), "x"))
    return table_of("servers", found, players, checks)
