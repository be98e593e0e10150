"""Jobs that share machines without coordination."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps, Table
from experiments._single import NOTE, row, times_ms
from scheduling.colocation.contention import paces_ms
from scheduling.colocation.memory.usage import OUT_OF_MEMORY, Data, GroupMachines, usage

TITLE = "CPU and network utilization of jobs alone and naively co-located on 16 machines"
PAPER = "Harmony, Fig. 4"
CLAIM = "Naive co-location of two jobs keeps CPU and network at around 50 % each; three jobs run out of memory"
MACHINES = GroupMachines(16, 32.0, 0.00015)
JOBS = {"NMF": "nmf-netflix128x", "Lasso": "lasso-synth-l", "MLR": "mlr-synth-l"}
TOGETHER = (("NMF",), ("Lasso",), ("MLR",), ("NMF", "Lasso"), ("NMF", "MLR"), ("NMF", "Lasso", "MLR"))
SETTING = (
    f"the larger data sets on {MACHINES.count} machines, as their sum has to exceed the memory; contention and memory "
    f"as in naive co-location; {NOTE}"
)
SEEDS = 1
CHARTS = (Chart("share of the time in which CPU or network is busy", "", ("CPU", "network")),)


def run(options: Options) -> Steps:
    values = yield {"groups": _groups}
    rows = tuple((_title(names, found), *found) for names, found in zip(TOGETHER, values["groups"], strict=True))
    two, three = [found for names, found in zip(TOGETHER, rows, strict=True) if len(names) == 2], rows[-1]
    used = [float(share) for found in two for share in found[1:3]]
    checks = (
        Figure("CPU or network of two jobs, smallest", min(used), "share", 0.35, at_least=True),
        Figure("CPU or network of two jobs, largest", max(used), "share", 0.75),
        Figure(
            "memory of two jobs, largest", max(float(found[3]) for found in two), "of the usable memory", OUT_OF_MEMORY
        ),
        Figure("memory of three jobs", float(three[3]), "of the usable memory", OUT_OF_MEMORY, at_least=True),
    )
    return Table(("jobs", "CPU", "network", "memory / usable"), rows, checks)


def _title(names: Sequence[str], found: Sequence[float]) -> str:
    return "+".join(names) + (": out of memory" if found[2] > OUT_OF_MEMORY else "")


def _groups() -> list[tuple[float, float, float]]:
    return [together([JOBS[name] for name in names]) for names in TOGETHER]


def together(names: Sequence[str]) -> tuple[float, float, float]:
    """(CPU, network, memory); nan for the shares where the memory is not enough."""
    rows = [row(name) for name in names]
    data = [Data(one.input_gb, one.model_gb, 1.0) for one in rows]
    memory = usage(data, MACHINES, [0.0] * len(rows), [0.0] * len(rows))
    if memory > OUT_OF_MEMORY:
        return float("nan"), float("nan"), memory
    comp, comm = zip(*(times_ms(one, MACHINES.count) for one in rows), strict=True)
    paces = paces_ms(comp, comm)
    return (
        sum(own / pace for own, pace in zip(comp, paces, strict=True)),
        sum(own / pace for own, pace in zip(comm, paces, strict=True)),
        memory,
    )
