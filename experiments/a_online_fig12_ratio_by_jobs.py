"""The ratio of A_online to a lower bound of the optimum, with more jobs and more speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments import Figure, Options, Table
from experiments._grid import Grid
from experiments._lanes import competitive, never_rises, small

TITLE = "competitive ratio by number of jobs, at four speeds"
PAPER = "A_online, Fig. 12"
CLAIM = "below 1.7, falls with epsilon, near 1 at epsilon = 0.5; the number of jobs has little influence"
EPSILONS = (0.0, 0.1, 0.3, 0.5)
SETTING = (
    "10 servers, chunks of 4 to 13 h, 3 seeds; fractional flow of A_online at speed 1 + epsilon / relaxed ILP (4) at "
    "speed 1, all in one location. The ratio can be below 1, because the algorithm has the higher speed"
)


def run(options: Options, jobs: Sequence[int] = (5, 10, 15, 20, 25), servers: int = 10) -> Table:
    grid = competitive(options, {count: small(count, servers) for count in jobs}, EPSILONS)
    return ratios("jobs", grid)


def ratios(what: str, grid: Grid) -> Table:
    """Ratios with the bands of both figures."""
    return Table(
        (what, *next(iter(grid.values()))),
        tuple((point, *row.values()) for point, row in grid.items()),
        tuple(_bands(what, grid)),
    )


def _bands(what: str, grid: Grid) -> Iterator[Figure]:
    for point, row in grid.items():
        values = list(row.values())
        yield Figure(f"maximum, {point} {what}", max(values), "x", 1.7)
        yield Figure(f"at epsilon 0.5, {point} {what}", values[-1], "x", 1.1)
        yield never_rises(f"with epsilon, {point} {what}", values, 0.0)
