"""Earlier runs: how long finished runs of about the same size took, by the wall clock."""

from __future__ import annotations

from typing import NamedTuple

from twin.models import Run
from twin.models.run_modes import modes_where

FACTOR = 2  # of jobs and of servers, below and above
MAX_RUNS = 500  # that are read, the newest first


class Spent(NamedTuple):
    """Finished runs of one scheduler, and the shortest and the longest of them in seconds."""

    runs: int
    least_s: float
    most_s: float


def of_size(jobs: int, servers: int) -> dict[str, Spent]:
    """Times by scheduler of batch runs without edits whose jobs and servers differ by at most FACTOR.

    From the start of a run to its end, with all that the machine did meanwhile.
    """
    rows = Run.objects.filter(
        mode__in=modes_where(simulated=True, paced=False), status=Run.FINISHED, edits=[], parent=None,
        scenario__trace__job_count__range=_about(jobs),
        scenario__cluster__server_count__range=_about(servers),
    )  # fmt: skip
    times: dict[str, list[float]] = {}
    for name, began, ended in rows.values_list("scenario__scheduler", "started_at", "finished_at")[:MAX_RUNS]:
        if began and ended:
            times.setdefault(name, []).append((ended - began).total_seconds())
    return {name: Spent(len(seconds), min(seconds), max(seconds)) for name, seconds in sorted(times.items())}


def _about(count: int) -> tuple[int, int]:
    return -(-count // FACTOR), count * FACTOR  # rounded up
