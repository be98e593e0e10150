"""Harmony, Isolated and naive co-location on the paper's 80 jobs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from experiments import Chart, Figure, Options, Steps, Table
from experiments._grid import Instance, Maker, Player
from experiments._groups import (
    NAIVE_CASES,
    SEEDS,
    of,
    outcomes_of,
    parts_of,
    ratio,
    ratio_range,
    table1,
    value_range,
)

TITLE = "completion times, makespan and utilization of 80 jobs on 100 machines"
PAPER = "Harmony, Fig. 10, 11"
CLAIM = (
    "Isolated has 1.60× the makespan and 2.11× the mean completion time of Harmony; CPU is 93.2 % and the network "
    "83.1 % busy; 27.2 jobs run in 6.7 groups, and moves take less than 2 %. Isolated has 1.09× the makespan and 1.11× "
    "the mean completion time of naive co-location, which is slower than Isolated in the worst case"
)
SETTING = (
    "the workload of Table I, all jobs at once; naive: the mean over 5, 8, 10 partitions × 2, 3 jobs. Communication "
    "times, job lengths and the 8 concurrent jobs of Isolated are calibrated to the aggregates of the paper, so this "
    "shows agreement, not a prediction. Two variants are not calibrated: iterations that read all input, as in the "
    "experiment of Section V-G, and heavy-tailed lengths of jobs, with 7 concurrent jobs of Isolated"
)
TAILED_JOBS = 7  # of Isolated at once, where lengths are heavy-tailed
WHOLE, TAILED = "Harmony, all input in each iteration", "Harmony, heavy-tailed lengths"
TAILED_BASE = "Isolated, heavy-tailed lengths"
CHARTS = (
    Chart(
        "Isolated / scheduler", "x", ("makespan, ×", "completion, ×"),
        levels=(("paper: makespan", 1.60), ("paper: completion time", 2.11)),
    ),
    Chart("share of all machines that are busy", "", ("CPU", "network")),
)  # fmt: skip


def run(options: Options) -> Steps:
    seeds = options.seeds_or(SEEDS)
    runs: dict[str, tuple[Maker, Player]] = {
        "Isolated": (table1, ("isolated", {})),
        "Harmony": (table1, ("harmony", {})),
        WHOLE: (reading_all, ("harmony", {})),
        **{
            naive_title(case): (table1, ("naive_colocation", {"partitions": case[0], "jobs": case[1]}))
            for case in NAIVE_CASES
        },
        TAILED: (partial(table1, lengths="heavy_tailed"), ("harmony", {})),
        TAILED_BASE: (partial(table1, lengths="heavy_tailed"), ("isolated", {"at_once": TAILED_JOBS})),
    }
    values = yield parts_of(runs, seeds)
    found = outcomes_of(values, runs)
    tailed_isolated, isolated, own, whole = (found[name] for name in (TAILED_BASE, "Isolated", "Harmony", WHOLE))
    tailed_own, naive = found[TAILED], [found[naive_title(case)] for case in NAIVE_CASES]
    rows: list[tuple[str | float, ...]] = []
    spread = []
    for name in runs:
        if name == TAILED_BASE:
            continue
        base, one = tailed_isolated if name == TAILED else isolated, found[name]
        keys = ("cpu", "net", "jobs", "groups", "moving")
        rows.append(
            (name, ratio(base, one, "makespan"), ratio(base, one, "completion"), *(of(one, key) for key in keys))
        )
        spread.append((
            None, ratio_range(base, one, "makespan"), ratio_range(base, one, "completion"),
            *(value_range(one, key) for key in keys),
        ))  # fmt: skip
    means = [sum(ratio(isolated, one, key) for one in naive) / len(naive) for key in ("makespan", "completion")]
    worst = min(ratio(isolated, one, "makespan") for one in naive)
    speedup, busier = ratio(isolated, own, "makespan"), ratio(own, isolated, "cpu")
    checks = (
        Figure("makespan, Isolated / Harmony, at least", speedup, "x", 1.45, at_least=True),
        Figure("makespan, Isolated / Harmony, at most", speedup, "x", 1.75),
        Figure("mean completion time, Isolated / Harmony", ratio(isolated, own, "completion"), "x", 1.4, at_least=True),
        Figure(
            "mean completion time, Isolated / Harmony, relative to the 2.11 of the paper",
            ratio(isolated, own, "completion") / 2.11,
            "share",
            1.0,
            at_least=True,
        ),
        Figure("CPU utilization", of(own, "cpu"), "share", 0.85, at_least=True),
        Figure("network utilization", of(own, "net"), "share", 0.78, at_least=True),
        Figure("concurrent jobs", of(own, "jobs"), "", 32),
        Figure("concurrent groups", of(own, "groups"), "", 8),
        Figure("deviation of the CPU ratio from the makespan ratio", abs(busier / speedup - 1), "share", 0.05),
        Figure("machine time in which jobs move", of(own, "moving"), "share", 0.02),
        Figure("makespan, Isolated / Harmony, all input in each iteration", ratio(isolated, whole, "makespan"), "x"),
        Figure(
            "completion time, Isolated / Harmony, heavy-tailed lengths",
            ratio(tailed_isolated, tailed_own, "completion"),
            "x",
        ),
        Figure("naive, gain in makespan", means[0], "x", 1.0, at_least=True),
        Figure("naive, gain in completion time", means[1], "x", 1.0, at_least=True),
        Figure("naive, smallest gain in makespan", worst, "x", 1.0),
    )
    columns = ("scheduler", "makespan, ×", "completion, ×", "CPU", "network", "jobs", "groups", "moving")
    return Table(columns, tuple(rows), checks, tuple(spread))


def naive_title(case: tuple[int, int]) -> str:
    """Name of naive co-location with this number of partitions and of jobs in each."""
    partitions, jobs = case
    return f"naive {partitions} × {jobs}"


def reading_all(seed: int) -> Instance:
    """The same jobs, whose iterations are whole epochs: each reads all of its input."""
    cluster, jobs = table1(seed)
    return cluster, [replace(job, iterations_per_epoch=1) for job in jobs]
