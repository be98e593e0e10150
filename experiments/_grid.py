"""Schedulers on a grid of drawn instances: what every comparison of the papers has in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any

from experiments import Options, Table
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.model.values import Cluster, Event, Job
from scheduling.workloads import generate

Instance = tuple[Cluster, list[Job]]
Player = tuple[str, Mapping[str, Any]]  # a scheduler's name and its parameters
Measure = Callable[[Instance, Sequence[Event]], float]
Grid = Mapping[Any, Mapping[str, float]]  # {point: {player: mean over the seeds}}

SEPARATE: Mapping[str, Player] = {
    "OASiS": ("oasis", {}), "FIFO": ("fifo", {}), "DRF": ("drf", {}), "RRH": ("rrh", {}), "Dorm": ("dorm", {}),
}  # fmt: skip
SHARED: Mapping[str, Player] = {
    "PD-ORS": ("pd_ors", {}), "OASiS": ("oasis", {"model": "pd-ors"}), "FIFO": ("fifo", {}), "DRF": ("drf", {}),
    "RRH": ("rrh", {}), "Dorm": ("dorm", {}),
}  # fmt: skip


def utility(instance: Instance, events: Sequence[Event]) -> float:
    """Total utility of the jobs that completed."""
    return sum(event.data["utility"] for event in events if event.kind == "job_completed")


def play(instance: Instance, player: Player) -> list[Event]:
    """All events of a run."""
    name, parameters = player
    return list(simulate(*instance, build(name, parameters), 0))


def compare(
    options: Options, points: Mapping[Any, Callable[[int], Instance]], players: Mapping[str, Player],
    seeds: Sequence[int], measure: Measure = utility,
    leaves_out: Callable[[Any, str], bool] = lambda point, player: False,
) -> Grid:  # fmt: skip
    """Results of each player on each point, which makes instances from seeds. leaves_out: what a point does not run."""
    found: dict[Any, dict[str, float]] = {}
    for point, make in points.items():
        instances = [make(seed) for seed in seeds]
        found[point] = {}
        for title, player in players.items():
            if leaves_out(point, title):
                continue
            options.report(f"{point}: {title}, {len(seeds)} seeds")
            found[point][title] = mean(measure(instance, play(instance, player)) for instance in instances)
    return found


def oasis_workload(num_jobs: int, slots: int, num_servers: int = 100) -> Callable[[int], Instance]:
    """Separate servers, half of them for workers: the workload of OASiS."""
    return lambda seed: generate("oasis", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots)


def pd_ors_workload(num_jobs: int, num_servers: int, slots: int, **options: Any) -> Callable[[int], Instance]:
    """Shared servers: the workload of PD-ORS."""
    return lambda seed: generate(
        "pd-ors", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots, **options
    )


def lead(row: Mapping[str, float], first: str, others: Sequence[str] | None = None) -> float:
    """Ratio of `first` to the best of the others; infinite where they have nothing."""
    best = max(value for name, value in row.items() if name != first and (others is None or name in others))
    return row[first] / best if best else float("inf")


def table_of(what: str, grid: Grid, players: Mapping[str, Player], checks: Sequence[Any]) -> Table:
    """A row for each point."""
    rows = tuple((point, *(row.get(player, float("nan")) for player in players)) for point, row in grid.items())
    return Table((what, *players), rows, tuple(checks))
