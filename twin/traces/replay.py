"""Arrivals and scheduling classes of a trace, as PD-ORS's generator replays them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments import Arrivals
from twin.traces import importers

MAX_ARRIVALS = 100_000
CRITICAL = 1.0  # sensitivities above are those of time-critical jobs


def replayed(trace: Path) -> dict[str, Any]:
    """Options of the workload: the timestamps, and the scheduling class behind each job's sensitivity."""
    jobs = importers.read(trace, seed=0, choice=importers.Choice(limit=MAX_ARRIVALS)).jobs
    return {
        "timestamps": [job.arrival_ms for job in jobs],
        "classes": [scheduling_class(job.utility.sensitivity if job.utility else 0.0) for job in jobs],
    }


def scheduling_class(sensitivity: float) -> int:
    """Scheduling class of Google's traces for the sensitivity of a job."""
    return 0 if sensitivity == 0 else 3 if sensitivity > CRITICAL else 1


def arrivals_of(trace: Path) -> Arrivals:
    """The same for experiments."""
    return Arrivals(trace.name, **replayed(trace))
