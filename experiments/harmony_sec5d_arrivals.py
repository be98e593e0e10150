"""Harmony when jobs come one after another."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Figure, Options, Table
from experiments._grid import Instance
from experiments._groups import averages, ratio, table1
from twin.traces import importers

TITLE = "gains over Isolated with jobs that arrive 0 to 8 minutes apart, and with arrivals in bursts"
PAPER = "Harmony, Section V-D, arrivals"
CLAIM = (
    "1.60x to 1.56x in makespan and 2.11x to 2.01x in completion time from 0 to 8 minutes; 1.57x and 2.02x with "
    "the arrivals of the Google trace"
)
SETTING = (
    "a Poisson process; bursts: a random window of the trace given by --arrivals, otherwise a Poisson process "
    "with 0.3 or 3 times the mean rate; mean gap 4 minutes"
)
MINUTES = (0.0, 2.0, 4.0, 6.0, 8.0)


def run(options: Options) -> Table:
    seeds = options.seeds_or(4)
    points: dict[str, list[Instance]] = {
        f"{minutes:g} min": [table1(seed, arrivals="poisson", mean_minutes=minutes) for seed in seeds]
        for minutes in MINUTES
    }
    if options.arrivals is None:
        points["bursts"] = [table1(seed, arrivals="bursty", mean_minutes=4.0) for seed in seeds]
    else:
        times = [float(job.arrival_ms) for job in importers.read(options.arrivals, seed=0).jobs]
        points[f"arrivals of {options.arrivals.name}"] = [_trace(seed, times) for seed in seeds]
    rows = []
    for name, instances in points.items():
        isolated = averages(options, f"{name}, Isolated", instances, ("isolated", {}))
        own = averages(options, f"{name}, Harmony", instances, ("harmony", {}))
        rows.append((name, ratio(isolated, own, "makespan"), ratio(isolated, own, "completion")))
    first, last, bursts = (float(rows[place][1]) for place in (0, len(MINUTES) - 1, -1))
    checks = (
        Figure("makespan gain at 8 minutes / gain at 0", last / first, "share", 0.9, at_least=True),
        Figure("makespan gain with bursts", bursts, "x", 1.4, at_least=True),
        Figure(
            "completion-time gain at 8 minutes (paper 2.01)", float(rows[len(MINUTES) - 1][2]), "x", 1.4, at_least=True
        ),
    )
    return Table(("arrivals", "makespan, ×", "completion, ×"), tuple(rows), checks)


def _trace(seed: int, times: Sequence[float]) -> Instance:
    return table1(seed, arrivals="timestamps", mean_minutes=4.0, timestamps=times)
