"""Arrivals and scheduling classes of a trace, for the experiments of PD-ORS that replay Google's."""

from __future__ import annotations

from collections.abc import Mapping

from experiments import Figure, Options, Skip, Steps
from experiments._grid import SHARED, Grid, compare, means, pd_ors_workload, table_of


def trace_table(options: Options, column: str, sizes: Mapping[int, tuple[int, int]], slots: int, seeds: int) -> Steps:
    """Utility under each scheduler, with the arrivals of the trace. sizes: {row: (jobs, servers)}."""
    arrivals = options.arrivals
    if arrivals is None:
        raise Skip("needs --arrivals FILE, a trace whose arrivals are replayed")
    trace = {"timestamps": arrivals.timestamps, "classes": arrivals.classes}
    workloads = {row: pd_ors_workload(jobs, servers, slots, **trace) for row, (jobs, servers) in sizes.items()}
    found = yield from compare(workloads, SHARED, options.seeds_or(seeds))
    return table_of(column, found, SHARED, in_order(means(found)))


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
