"""A job with more machines."""

from __future__ import annotations

from itertools import pairwise

from experiments import Chart, Figure, Options, Steps, Table
from experiments._single import NOTE, alone, row

TITLE = "iteration time and utilization of one job by its number of machines"
PAPER = "Harmony, Fig. 3"
CLAIM = "More machines shorten the execution time and lower the CPU utilization; resources stay idle in either case"
MACHINES, JOB = (4, 8, 12, 16, 24, 32), "lda-pubmed"
SETTING = f"{JOB}; {NOTE}"
SEEDS = 1
CHARTS = (
    Chart("iteration time", "s", ("iteration, s",)),
    Chart("share of an iteration in which CPU or network is busy", "", ("CPU", "network")),
)


def run(options: Options) -> Steps:
    values = yield {"machines": _machines}
    rows = tuple((count, *found) for count, found in zip(MACHINES, values["machines"], strict=True))
    seconds, cpus = [found[1] for found in rows], [found[2] for found in rows]
    checks = (
        Figure("largest rise of the time with more machines", max(b - a for a, b in pairwise(seconds)), "s", 0.0),
        Figure("largest rise of CPU with more machines", max(b - a for a, b in pairwise(cpus)), "share", 0.0),
        Figure("largest sum of CPU and network", max(cpu + net for _, _, cpu, net in rows), "of 2", 1.2),
    )
    return Table(("machines", "iteration, s", "CPU", "network"), rows, checks)


def _machines() -> list[tuple[float, float, float]]:
    return [alone(row(JOB), machines) for machines in MACHINES]
