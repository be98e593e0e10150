"""Suspensions of chunks and gangs by number of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import Grid, compare, means, table_of
from experiments._typed_workers import JOBS, NOTE, PREEMPTIVE, SEEDS, orders, stops, workload

TITLE = "preemptions, by number of jobs"
PAPER = "A_online, Fig. 9"
CLAIM = "A_online-E preempts more than A_online, and A_online more than SRTF; all rise with the number of jobs"
SETTING = f"100 servers; a preemption is the suspension of a chunk or, with gangs, of a job; {NOTE}"
CHARTS = (Chart("preemptions"),)


def run(options: Options, jobs: Sequence[int] = JOBS, servers: int = 100) -> Steps:
    points = {count: workload(count, servers) for count in jobs}
    found = yield from compare(points, PREEMPTIVE, options.seeds_or(SEEDS), stops)
    grid = means(found)
    return table_of("jobs", found, PREEMPTIVE, [*orders(grid), *rises(grid)])


def rises(grid: Grid) -> Iterator[Figure]:
    """Rise of each scheduler from the first point to the last."""
    first, *_, last = grid.values()
    for name in first:
        yield Figure(f"{name}, most jobs − fewest jobs", last[name] - first[name], "", 0.0, at_least=True)
