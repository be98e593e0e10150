"""Harmony when jobs come one after another."""

from __future__ import annotations

from functools import partial

from experiments import Chart, Figure, Options, Steps, Table
from experiments._grid import Maker, Player
from experiments._groups import SEEDS, outcomes_of, parts_of, ratio, ratio_range, table1

TITLE = "gains over Isolated with jobs that arrive 0 to 8 minutes apart, and with arrivals in bursts"
PAPER = "Harmony, Section V-D, arrivals"
CLAIM = (
    "From 0 to 8 minutes, gains fall from 1.60× to 1.56× in makespan and from 2.11× to 2.01× in completion time; they "
    "are 1.57× and 2.02× with the arrivals of the Google trace"
)
SETTING = (
    "a Poisson process; bursts: a random window of the trace given by --arrivals, otherwise a Poisson process "
    "with 0.3 or 3 times the mean rate; mean gap 4 minutes"
)
MINUTES = (0.0, 2.0, 4.0, 6.0, 8.0)
ARRIVALS = "optional"
CHARTS = (Chart("Isolated / Harmony", "x"),)


def run(options: Options) -> Steps:
    points: dict[str, Maker] = {
        f"{minutes:g} min": partial(table1, arrivals="poisson", mean_minutes=minutes) for minutes in MINUTES
    }
    if options.arrivals is None:
        points["bursts"] = partial(table1, arrivals="bursty", mean_minutes=4.0)
    else:
        times = options.arrivals.timestamps
        trace = partial(table1, arrivals="timestamps", mean_minutes=4.0, timestamps=times)
        points[f"arrivals of {options.arrivals.name}"] = trace
    runs: dict[str, tuple[Maker, Player]] = {
        f"{name}, {title}": (make, (scheduler, {}))
        for name, make in points.items()
        for title, scheduler in (("Isolated", "isolated"), ("Harmony", "harmony"))
    }
    values = yield parts_of(runs, options.seeds_or(SEEDS))
    found = outcomes_of(values, runs)
    makespan, completion, spread = [], [], []
    for name in points:
        isolated, own = found[f"{name}, Isolated"], found[f"{name}, Harmony"]
        makespan.append(ratio(isolated, own, "makespan"))
        completion.append(ratio(isolated, own, "completion"))
        spread.append((None, ratio_range(isolated, own, "makespan"), ratio_range(isolated, own, "completion")))
    last = len(MINUTES) - 1  # bursts are behind it
    checks = (
        Figure("makespan gain at 8 minutes / gain at 0", makespan[last] / makespan[0], "share", 0.9, at_least=True),
        Figure("makespan gain with bursts", makespan[-1], "x", 1.4, at_least=True),
        Figure("completion-time gain at 8 minutes (paper 2.01)", completion[last], "x", 1.4, at_least=True),
    )
    rows = tuple(zip(points, makespan, completion, strict=True))
    return Table(("arrivals", "makespan, ×", "completion, ×"), rows, checks, tuple(spread))
