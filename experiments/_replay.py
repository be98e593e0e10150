"""Arrivals and scheduling classes of a trace, for the experiments of PD-ORS that replay Google's."""

from __future__ import annotations

from typing import Any

from experiments import Figure, Options, Skip
from experiments._grid import Grid
from twin.traces.replay import replayed as of_trace


def replayed(options: Options) -> dict[str, Any]:
    """Options of the workload, from the trace that was given."""
    if options.arrivals is None:
        raise Skip("needs --arrivals FILE, a trace whose arrivals are replayed")
    return of_trace(options.arrivals)


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
