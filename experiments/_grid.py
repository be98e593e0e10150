"""Schedulers on a grid of sampled instances, as all comparisons of the papers use them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from statistics import mean
from typing import Any

from experiments import Part, Table, Values
from scheduling.kernel.registry import parse_parameters, scheduler_class
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.kernel.simulation import simulate
from scheduling.model.values import Cluster, Event, Job
from scheduling.workloads import generate

Instance = tuple[Cluster, list[Job]]
Maker = Callable[[int], Instance]  # of a seed
Player = tuple[str | type[BaseScheduler], Mapping[str, Any]]  # a scheduler by name or class, and its parameters
Measure = Callable[[Instance, Sequence[Event]], float]
Found = Mapping[Any, Mapping[str, Sequence[float]]]  # {point: {player: value of each seed}}
Grid = Mapping[Any, Mapping[str, float]]  # {point: {player: mean over the seeds}}

SEPARATE: Mapping[str, Player] = {
    "OASiS": ("oasis", {}), "FIFO": ("fifo", {}), "DRF": ("drf", {}), "RRH": ("rrh", {}), "Dorm": ("dorm", {}),
}  # fmt: skip
SHARED: Mapping[str, Player] = {
    "PD-ORS": ("pd_ors", {}), "OASiS": ("oasis", {"model": "pd-ors"}), "FIFO": ("fifo", {}), "DRF": ("drf", {}),
    "RRH": ("rrh", {}), "Dorm": ("dorm", {}),
}  # fmt: skip
PD_ORS_BAND = 1.5  # least ratio of PD-ORS to the best of its rivals
PD_ORS_RIVALS = ("FIFO", "DRF", "RRH", "Dorm")

# parts of settings
CALIBRATED = "workload scaled to the paper's figures (calibrated)"
FROM_HISTORY = "price bounds from the jobs that have arrived"


def utility(instance: Instance, events: Sequence[Event]) -> float:
    """Total utility of the jobs that completed."""
    return sum(event.data["utility"] for event in events if event.kind == "job_completed")


def play(instance: Instance, player: Player) -> list[Event]:
    """All events of a run."""
    scheduler, parameters = player
    cls = scheduler_class(scheduler) if isinstance(scheduler, str) else scheduler
    return list(simulate(*instance, cls(parse_parameters(cls, parameters)), 0))


def compare(
    points: Mapping[Any, Maker], players: Mapping[str, Player], seeds: Sequence[int], measure: Measure = utility,
    leaves_out: Callable[[Any, str], bool] = lambda point, player: False,
) -> Generator[Mapping[str, Part], Values, Found]:  # fmt: skip
    """Results of each player on each point, a part each. leaves_out: what a point does not run."""
    cells = {
        f"{point}: {title}": (point, title) for point in points for title in players if not leaves_out(point, title)
    }
    values = yield {
        name: partial(measured, points[point], players[title], seeds, measure) for name, (point, title) in cells.items()
    }
    found: dict[Any, dict[str, Sequence[float]]] = {point: {} for point in points}
    for name, (point, title) in cells.items():
        found[point][title] = values[name]
    return found


def measured(make: Maker, player: Player, seeds: Sequence[int], measure: Measure) -> list[float]:
    """The measure of a run of each seed."""
    found = []
    for seed in seeds:
        instance = make(seed)
        found.append(measure(instance, play(instance, player)))
    return found


def means(found: Found) -> Grid:
    """Means over the seeds."""
    return {point: {player: mean(values) for player, values in row.items()} for point, row in found.items()}


def oasis_workload(num_jobs: int, slots: int, num_servers: int = 100) -> Maker:
    """Separate servers, half of them for workers: the workload of OASiS."""
    return lambda seed: generate("oasis", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots)


def pd_ors_workload(num_jobs: int, num_servers: int, slots: int, **options: Any) -> Maker:
    """Shared servers: the workload of PD-ORS."""
    return lambda seed: generate(
        "pd-ors", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots, **options
    )


def lead(row: Mapping[str, float], first: str, others: Sequence[str] | None = None) -> float:
    """Ratio of `first` to the best of the others; infinite where they have nothing."""
    best = max(value for name, value in row.items() if name != first and (others is None or name in others))
    return row[first] / best if best else float("inf")


def table_of(what: str, found: Found, players: Mapping[str, Any], checks: Sequence[Any]) -> Table:
    """A row for each point, with the spread over the seeds."""
    rows, spread = [], []
    for point, row in found.items():
        own = [row.get(player) for player in players]
        rows.append((point, *(mean(values) if values else float("nan") for values in own)))
        spread.append((None, *((min(values), max(values)) if values else None for values in own)))
    return Table((what, *players), tuple(rows), tuple(checks), tuple(spread))
