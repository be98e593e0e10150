"""Contribution of each part of Harmony."""

from __future__ import annotations

from experiments import Figure, Options, Table
from experiments._groups import NAIVE_CASES, averages, of, ratio, table1

TITLE = "subtasks alone, with grouping, with spilling"
PAPER = "Harmony, Section V-C"
CLAIM = "subtasks alone give 32 % of the gain, with grouping 81 %, with reloading 100 %"
SETTING = (
    "subtasks alone: naive partitions with the subtasks of Harmony, mean over the cases; grouping: no "
    "spilling, so memory limits the groups"
)


def run(options: Options) -> Table:
    instances = [table1(seed) for seed in options.seeds_or(4)]
    isolated = averages(options, "Isolated", instances, ("isolated", {}))
    cases = [
        averages(options, f"subtasks {parts} x {jobs}", instances,
                 ("naive_colocation", {"partitions": parts, "jobs": jobs, "sharing": "subtasks"}))
        for parts, jobs in NAIVE_CASES
    ]  # fmt: skip
    steps = {
        "subtasks": cases,
        "grouping": [averages(options, "grouping", instances, ("harmony", {"memory": "none"}))],
        "reloading": [averages(options, "all", instances, ("harmony", {}))],
    }
    gains = {
        name: sum(ratio(isolated, found, "makespan") for found in runs) / len(runs) for name, runs in steps.items()
    }
    whole = gains["reloading"] - 1
    rows = tuple(
        (
            name,
            gains[name],
            (gains[name] - 1) / whole,
            sum(of(found, "jobs") for found in steps[name]) / len(steps[name]),
        )
        for name in steps
    )
    shares = [float(row[2]) for row in rows]
    checks = (
        Figure("subtasks alone (paper 32 %)", shares[0], "share", 0.2, at_least=True),
        Figure("same, upper limit", shares[0], "share", 0.6),
        Figure("grouping - subtasks alone", shares[1] - shares[0], "share", 0.0, at_least=True),
        Figure("reloading - grouping", shares[2] - shares[1], "share", 0.0, at_least=True),
    )
    return Table(("with", "makespan, ×", "share of the gain", "jobs"), rows, checks)
