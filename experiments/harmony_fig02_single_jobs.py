"""CPU and network of single jobs."""

from __future__ import annotations

from experiments import Chart, Figure, Options, Steps, Table
from experiments._single import NOTE, alone, row

TITLE = "CPU and network utilization of single jobs on 16 machines"
PAPER = "Harmony, Fig. 2"
CLAIM = "Single jobs leave much of CPU and network idle, and the ratio of the two varies with the application"
MACHINES = 16
SETTING = f"MLR and LDA on {MACHINES} machines; {NOTE}"
JOBS = ("mlr-synth-s", "mlr-synth-l", "lda-pubmed", "lda-nytimes")
SEEDS = 1
CHARTS = (Chart("share of an iteration in which CPU or network is busy"),)


def run(options: Options) -> Steps:
    values = yield {"jobs": _jobs}
    rows = tuple((name, cpu, net) for name, (_, cpu, net) in values["jobs"].items())
    cpus = [cpu for _, cpu, _ in rows]
    checks = (
        Figure("largest mean of CPU and network of a job", max((cpu + net) / 2 for _, cpu, net in rows), "share", 0.6),
        Figure("largest CPU / smallest CPU", max(cpus) / min(cpus), "x", 1.5, at_least=True),
    )
    return Table(("job", "CPU", "network"), rows, checks)


def _jobs() -> dict[str, tuple[float, float, float]]:
    return {name: alone(row(name), MACHINES) for name in JOBS}
