"""Arrivals and scheduling classes of a trace, for the experiments of PD-ORS that replay Google's."""

from __future__ import annotations

from collections.abc import Mapping

from experiments import Figure, Options, Skip, Table
from experiments._grid import SHARED, Grid, compare, pd_ors_workload, table_of
from twin.traces.replay import replayed


def trace_table(options: Options, column: str, sizes: Mapping[int, tuple[int, int]], slots: int) -> Table:
    """Utility under each scheduler, with the arrivals of the trace. sizes: {row: (jobs, servers)}."""
    if options.arrivals is None:
        raise Skip("needs --arrivals FILE, a trace whose arrivals are replayed")
    trace = replayed(options.arrivals)
    workloads = {row: pd_ors_workload(jobs, servers, slots, **trace) for row, (jobs, servers) in sizes.items()}
    grid = compare(options, workloads, SHARED, options.seeds_or(2))
    return table_of(column, grid, SHARED, in_order(grid))


def in_order(grid: Grid) -> list[Figure]:
    """The bands of Fig. 12 and 13: PD-ORS before OASiS before the rest."""
    checks = []
    for point, row in grid.items():
        rest = max(row[name] for name in ("FIFO", "DRF", "Dorm"))
        checks.append(
            Figure(f"PD-ORS / OASiS, {point}", row["PD-ORS"] / max(row["OASiS"], 1e-9), "x", 1.0, at_least=True)
        )
        checks.append(
            Figure(f"OASiS / best of FIFO, DRF, Dorm, {point}", row["OASiS"] / max(rest, 1e-9), "x", 1.0, at_least=True)
        )
    return checks
