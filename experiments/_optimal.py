"""Share of the clairvoyant optimum that schedulers reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median

from experiments import Figure, Options, Table
from experiments._grid import Instance, Player, play, utility
from scheduling.slotted.certificate import pooled_lp, trivial
from scheduling.slotted.certificate_problem import problem
from scheduling.slotted.solvers.optimum import optimum

NODES, SECONDS = 2_000, 20.0  # of the search for one optimum; then its bound is used
NOTHING = 1e-6  # utility


def against_optimum(
    options: Options, points: Mapping[str, Callable[[int], Instance]], players: Mapping[str, Player], training: str,
    seeds: Sequence[int], most: float,
) -> Table:  # fmt: skip
    """OPT, or an upper bound of it if the search was cut off, over what each player earns; median against `most`.

    Ratios are of the instances in which any job can finish at all.
    """
    rows: list[tuple[str | float, ...]] = []
    ratios: dict[str, list[float]] = {title: [] for title in players}
    for point, make in points.items():
        options.report(point)
        instances = [make(seed) for seed in seeds]
        bounds, proved = zip(*(_bound(instance, training) for instance in instances), strict=True)
        for title, player in players.items():
            reached = [utility(instance, play(instance, player)) for instance in instances]
            own = [b / r if r else float("inf") for b, r in zip(bounds, reached, strict=True) if b > NOTHING]
            ratios[title] += own
            worst = (median(own), max(own)) if own else (float("nan"), float("nan"))
            rows.append(
                (f"{point}, {title}", mean(bounds), mean(reached), *worst, float(len(own)), mean(map(float, proved)))
            )
    checks = [
        Figure(f"median of optimum / utility of {title} earns", median(own), "x", most) for title, own in ratios.items()
    ]
    return Table(
        ("setting", "OPT", "earned", "median ratio", "largest", "instances", "proved optimal"),
        tuple(rows),
        tuple(checks),
    )


def _bound(instance: Instance, training: str) -> tuple[float, bool]:
    """(the least upper bound of the optimum, whether it is reached)."""
    cluster, jobs = instance
    found = optimum(cluster, jobs, training, NODES, SECONDS)
    task = problem(cluster, jobs, range(len(jobs)), training)
    relaxed = pooled_lp(task)
    bound = min(found.bound, trivial(task), relaxed[0] if relaxed else float("inf"))
    return bound, found.value >= bound * (1 - 1e-6)
