"""Harmony on jobs that mostly compute, and on jobs that mostly communicate."""

from __future__ import annotations

from functools import partial

from experiments import Chart, Figure, Options, Steps, Table
from experiments._grid import Maker, Player
from experiments._groups import (
    SEEDS,
    of,
    outcomes_of,
    parts_of,
    ratio,
    ratio_range,
    table1,
    value_range,
)

TITLE = "degree of parallelism and gains of the 60 most and the 60 least computation-heavy of 80 jobs"
PAPER = "Harmony, Fig. 12, Section V-D"
CLAIM = (
    "Isolated has 1.58× and 1.57× the makespan of Harmony for comp60 and comm60, and 2.31× and 1.83× its mean "
    "completion time; computation-heavy jobs run in groups with more machines and equally many jobs"
)
SETTING = (
    "the workload of Table I, calibrated to the aggregates of the paper, all jobs at once; comp60 and comm60: the 60 "
    "of 80 jobs with the largest share of computation and of communication"
)
SUBSETS = ("all", "comp60", "comm60")
CHARTS = (
    Chart("Isolated / Harmony", "x", ("makespan, ×", "completion, ×")),
    Chart("machines of a group, jobs of a group", "", ("machines per group", "jobs per group")),
)


def run(options: Options) -> Steps:
    runs: dict[str, tuple[Maker, Player]] = {
        f"{subset}, {title}": (partial(table1, subset=subset), (scheduler, {}))
        for subset in SUBSETS
        for title, scheduler in (("Isolated", "isolated"), ("Harmony", "harmony"))
    }
    values = yield parts_of(runs, options.seeds_or(SEEDS))
    found = outcomes_of(values, runs)
    rows, spread, wide, gains = [], [], {}, {}
    for subset in SUBSETS:
        isolated, own = found[f"{subset}, Isolated"], found[f"{subset}, Harmony"]
        wide[subset], gains[subset] = of(own, "parallelism"), ratio(isolated, own, "makespan")
        rows.append((
            subset, gains[subset], ratio(isolated, own, "completion"), of(own, "cpu"), of(own, "net"), wide[subset],
            of(own, "jobs") / of(own, "groups"),
        ))  # fmt: skip
        spread.append((
            None, ratio_range(isolated, own, "makespan"), ratio_range(isolated, own, "completion"),
            value_range(own, "cpu"), value_range(own, "net"), value_range(own, "parallelism"), None,
        ))  # fmt: skip
    later = {subset: float(completion) for subset, _, completion, *_ in rows}
    checks = (
        Figure("machines per group, comp60 / comm60", wide["comp60"] / wide["comm60"], "x", 1.15, at_least=True),
        Figure("makespan, Isolated / Harmony, comp60", gains["comp60"], "x", 1.35, at_least=True),
        Figure("makespan, Isolated / Harmony, comm60", gains["comm60"], "x", 1.4, at_least=True),
        Figure(
            "completion time, comp60 / comm60 (paper 1.26)", later["comp60"] / later["comm60"], "x", 1.0, at_least=True
        ),
    )
    columns = ("jobs", "makespan, ×", "completion, ×", "CPU", "network", "machines per group", "jobs per group")
    return Table(columns, tuple(rows), checks, tuple(spread))
