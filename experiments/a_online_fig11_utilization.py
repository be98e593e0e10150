"""How busy the workers are, and when all is done."""

from __future__ import annotations

from functools import partial
from statistics import mean

from experiments import Chart, Figure, Options, Steps, Table
from experiments._lanes import NOTE, PREEMPTIVE, SEEDS, makespan_and_use, workload

TITLE = "utilization and makespan"
PAPER = "A_online, Fig. 11"
CLAIM = (
    "A_online and A_online-E use all workers at the peaks of submission; the makespan of A_online is 0.76 of that "
    "of SRTF and 0.74 of that of Tiresias-L"
)
SETTING = f"300 jobs, 100 servers; {NOTE}"
CHARTS = (
    Chart("makespan", "h", ("makespan, h",)),
    Chart("share of workers that are busy", "", ("busy, mean", "busy, peak")),
)


def run(options: Options, jobs: int = 300, servers: int = 100) -> Steps:
    make, seeds = workload(jobs, servers), options.seeds_or(SEEDS)
    values = yield {name: partial(makespan_and_use, make, player, seeds) for name, player in PREEMPTIVE.items()}
    found = {
        name: dict(zip(("makespan_h", "mean", "peak"), map(mean, zip(*rows, strict=True)), strict=True))
        for name, rows in values.items()
    }
    own = found["A_online"]["makespan_h"]
    rows = tuple(
        (name, row["makespan_h"], own / row["makespan_h"], row["mean"], row["peak"]) for name, row in found.items()
    )
    checks = (
        Figure(
            "maximum number of concurrent workers, A_online-E",
            found["A_online-E"]["peak"],
            "share",
            0.999,
            at_least=True,
        ),
        Figure(
            "maximum number of concurrent workers, A_online", found["A_online"]["peak"], "share", 0.9, at_least=True
        ),
        Figure("makespan, A_online / SRTF (paper: 0.76)", own / found["SRTF"]["makespan_h"], "x", 1.0),
        Figure("makespan, A_online / Tiresias-L (paper: 0.74)", own / found["Tiresias-L"]["makespan_h"], "x", 1.0),
    )
    columns = ("scheduler", "makespan, h", "A_online / this scheduler", "busy, mean", "busy, peak")
    spread = []
    for name in PREEMPTIVE:
        makespan, busy, peak = ((min(column), max(column)) for column in zip(*values[name], strict=True))
        spread.append((None, makespan, None, busy, peak))
    return Table(columns, rows, checks, tuple(spread))
