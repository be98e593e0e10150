"""How often chunks and gangs are stopped as jobs grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments import Figure, Options, Table
from experiments._grid import Grid, compare, table_of
from experiments._lanes import JOBS, NOTE, PREEMPTIVE, stops, workload

TITLE = "preemptions, by number of jobs"
PAPER = "A_online, Fig. 9"
CLAIM = "A_online-E preempts more than A_online, and A_online more than SRTF; all rise with the number of jobs"
SETTING = f"100 servers; a preemption is the suspension of a chunk or, with gangs, of a job; {NOTE}"


def run(options: Options, jobs: Sequence[int] = JOBS, servers: int = 100) -> Table:
    grid = compare(options, {count: workload(count, servers) for count in jobs}, PREEMPTIVE, options.seeds_or(3), stops)
    return table_of("jobs", grid, PREEMPTIVE, [*orders(grid), *rises(grid)])


def orders(grid: Grid) -> Iterator[Figure]:
    """A_online-E over A_online over SRTF."""
    for point, row in grid.items():
        yield Figure(f"A_online-E - A_online at {point}", row["A_online-E"] - row["A_online"], "", 0.0, at_least=True)
        yield Figure(f"A_online - SRTF at {point}", row["A_online"] - row["SRTF"], "", 0.0, at_least=True)


def rises(grid: Grid) -> Iterator[Figure]:
    """From the first point to the last."""
    first, *_, last = grid.values()
    for name in first:
        yield Figure(f"{name}, most jobs - fewest jobs", last[name] - first[name], "", 0.0, at_least=True)
