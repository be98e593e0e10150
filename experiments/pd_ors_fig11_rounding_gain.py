"""The gain of the randomized rounding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from experiments import Chart, Figure, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, Maker, means, measured, pd_ors_workload, table_of, utility
from scheduling.kernel.scheduler import BaseScheduler

TITLE = "total utility by rounding gain G"
PAPER = "PD-ORS, Fig. 11"
CLAIM = "The ratio is best at G = 1 and far below its bound everywhere"
GAINS, JOBS, SLOTS, SETTINGS = (0.2, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2), 50, 20, ((100, 10.0), (20, 1.0))
SETTING = (
    f"{SLOTS} slots, {JOBS} jobs, {CALIBRATED}, {FROM_HISTORY}, placements by the rounded linear program, 1 seed. "
    "Reduced: 50 roundings instead of 5000, seven gains. With 100 servers jobs run on one machine and nothing is "
    "rounded, so 20 servers with equal internal and external bandwidth (kappa = 1) are run as well: with the repair of "
    "this implementation, and by the rule of the paper, where a number of workers without a feasible rounding has no "
    "placement"
)
NEAR_ONE = (0.8, 0.9, 1.0, 1.1, 1.2)
SEEDS = 1
NEEDS = ("scipy", "highspy")
CHARTS = (Chart("total utility", turned=True),)


def run(options: Options, settings: Sequence[tuple[int, float]] = SETTINGS, gains: Sequence[float] = GAINS) -> Steps:
    from experiments._unrepaired import Unrepaired  # here: the experiment is listed without its solver

    points: dict[str, tuple[Maker, str | type[BaseScheduler]]] = {}
    for servers, kappa in settings:
        make = pd_ors_workload(JOBS, servers, SLOTS, kappa=kappa)
        points[f"{servers}, kappa {kappa:g}"] = make, "pd_ors"
        if kappa == 1:
            points[f"{servers}, kappa {kappa:g}, without repair"] = make, Unrepaired
    players = {f"G = {gain}": {"mode": "paper", "rounding_gain": gain} for gain in gains}
    seeds = options.seeds_or(SEEDS)
    values = yield {
        f"{point}: {title}": partial(measured, make, (scheduler, parameters), seeds, utility)
        for point, (make, scheduler) in points.items() for title, parameters in players.items()
    }  # fmt: skip
    found = {point: {title: values[f"{point}: {title}"] for title in players} for point in points}
    checks = []
    for point, row in means(found).items():
        best = max(row[f"G = {gain}"] for gain in gains if gain in NEAR_ONE)
        checks.append(
            Figure(f"best of G 0.8–1.2 / best of all, {point}", best / max(row.values()), "x", 1.0, at_least=True)
        )
        others = max(value for title, value in row.items() if title != "G = 1.0")
        bound = 1.0 if "without repair" in point else None
        checks.append(
            Figure(f"G = 1 / best of the others, {point}", row["G = 1.0"] / others, "x", bound, at_least=True)
        )
    return table_of("servers", found, players, checks)
