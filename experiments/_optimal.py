"""Share of the clairvoyant optimum that schedulers reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean, median
from typing import Any

from experiments import Chart, Figure, Steps, Table
from experiments._grid import Instance, Maker, Player, play, utility
from scheduling.slotted.certificate import pooled_lp, trivial
from scheduling.slotted.certificate_problem import problem

NODES, SECONDS = 2_000, 20.0  # of the search for one optimum; then its bound is used
NOTHING = 1e-6  # utility
RATIO = Chart("optimum / utility, median over the instances", "x", ("median ratio",))


def against_optimum(
    points: Mapping[str, Maker], players: Mapping[str, Player], training: str, seeds: Sequence[int], most: float
) -> Steps:
    """OPT, or an upper bound of it if the search was cut off, over what each player earns; median against `most`.

    Ratios are of the instances in which any job can finish at all.
    """
    values = yield {point: partial(_point, make, players, training, seeds) for point, make in points.items()}
    rows: list[tuple[str | float, ...]] = []
    spread: list[tuple[tuple[float, float] | None, ...]] = []
    ratios: dict[str, list[float]] = {title: [] for title in players}
    for point in points:
        bounds, proved = values[point]["bounds"], values[point]["proved"]
        for title in players:
            reached = values[point]["reached"][title]
            own = [b / r if r else float("inf") for b, r in zip(bounds, reached, strict=True) if b > NOTHING]
            ratios[title] += own
            worst = (median(own), max(own)) if own else (float("nan"), float("nan"))
            rows.append(
                (f"{point}, {title}", mean(bounds), mean(reached), *worst, float(len(own)), mean(map(float, proved)))
            )
            spread.append((None, None, None, (min(own), max(own)) if own else None, None, None, None))
    checks = [Figure(f"median of optimum / utility, {title}", median(own), "x", most) for title, own in ratios.items()]
    columns = ("setting", "OPT", "earned", "median ratio", "largest", "instances", "proved optimal")
    return Table(columns, tuple(rows), tuple(checks), tuple(spread))


def _point(make: Maker, players: Mapping[str, Player], training: str, seeds: Sequence[int]) -> dict[str, Any]:
    instances = [make(seed) for seed in seeds]
    bounds, proved = zip(*(_bound(instance, training) for instance in instances), strict=True)
    reached = {
        title: [utility(instance, play(instance, player)) for instance in instances]
        for title, player in players.items()
    }
    return {"bounds": list(bounds), "proved": list(proved), "reached": reached}


def _bound(instance: Instance, training: str) -> tuple[float, bool]:
    """(the least upper bound of the optimum, whether it is reached)."""
    from scheduling.slotted.solvers.optimum import optimum  # here: the experiment is listed without its solver

    cluster, jobs = instance
    found = optimum(cluster, jobs, training, NODES, SECONDS)
    task = problem(cluster, jobs, range(len(jobs)), training)
    relaxed = pooled_lp(task)
    bound = min(found.bound, trivial(task), relaxed[0] if relaxed else float("inf"))
    return bound, found.value >= bound * (1 - 1e-6)
