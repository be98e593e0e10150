"""Harmony on jobs that mostly compute, and on jobs that mostly communicate."""

from __future__ import annotations

from experiments import Figure, Options, Table
from experiments._groups import averages, of, ratio, table1

TITLE = "degree of parallelism and gains of the 60 most and the 60 least computation-heavy of 80 jobs"
PAPER = "Harmony, Fig. 12, Section V-D"
CLAIM = (
    "makespan 1.58x and 1.57x, completion time 2.31x and 1.83x; computation-heavy jobs run in groups with more "
    "machines and equally many jobs"
)
SETTING = "the calibrated Table I workload, all jobs at once"


def run(options: Options) -> Table:
    rows, wide, gains = [], {}, {}
    for subset in ("all", "comp60", "comm60"):
        instances = [table1(seed, subset=subset) for seed in options.seeds_or(4)]
        isolated = averages(options, f"{subset}, Isolated", instances, ("isolated", {}))
        own = averages(options, f"{subset}, Harmony", instances, ("harmony", {}))
        wide[subset], gains[subset] = of(own, "parallelism"), ratio(isolated, own, "makespan")
        rows.append((
            subset, gains[subset], ratio(isolated, own, "completion"), of(own, "cpu"), of(own, "net"), wide[subset],
            of(own, "jobs") / of(own, "groups"),
        ))  # fmt: skip
    later = {row[0]: float(row[2]) for row in rows}
    checks = (
        Figure("machines per group, comp60 / comm60", wide["comp60"] / wide["comm60"], "x", 1.15, at_least=True),
        Figure("makespan, comp60", gains["comp60"], "x", 1.35, at_least=True),
        Figure("makespan, comm60", gains["comm60"], "x", 1.4, at_least=True),
        Figure(
            "completion time, comp60 / comm60 (paper 1.26)", later["comp60"] / later["comm60"], "x", 1.0, at_least=True
        ),
    )
    columns = ("jobs", "makespan, ×", "completion, ×", "CPU", "network", "machines per group", "jobs per group")
    return Table(columns, tuple(rows), checks)
