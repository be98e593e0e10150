"""Arrivals and scheduling classes of a trace, for the experiments of PD-ORS that replay Google's."""

from __future__ import annotations

from typing import Any

from twin import importers
from twin.experiments import Ask, Figure, Skip
from twin.experiments._grid import Grid

MOST_ARRIVALS = 100_000
CRITICAL = 1.0  # sensitivities above are those of time-critical jobs


def replayed(ask: Ask) -> dict[str, Any]:
    """Options of the workload: the timestamps, and the scheduling class that the importer made each job's sensitivity of."""
    if ask.arrivals is None:
        raise Skip("needs --arrivals FILE, a trace whose arrivals are replayed")
    jobs = importers.read(ask.arrivals, seed=0, choice=importers.Choice(limit=MOST_ARRIVALS)).jobs
    kinds = [job.utility.sensitivity if job.utility else 0.0 for job in jobs]
    return {
        "timestamps": [job.arrival_ms for job in jobs],
        "classes": [0 if kind == 0 else 3 if kind > CRITICAL else 1 for kind in kinds],
    }


def in_order(grid: Grid) -> list[Figure]:
    """The bands of Fig. 12 and 13: PD-ORS before OASiS before the rest."""
    checks = []
    for point, row in grid.items():
        rest = max(row[name] for name in ("FIFO", "DRF", "Dorm"))
        checks.append(Figure(f"PD-ORS to OASiS, {point}", row["PD-ORS"] / max(row["OASiS"], 1e-9), "x", 1.0, at_least=True))
        checks.append(Figure(f"OASiS to FIFO, DRF, Dorm, {point}", row["OASiS"] / max(rest, 1e-9), "x", 1.0, at_least=True))
    return checks
