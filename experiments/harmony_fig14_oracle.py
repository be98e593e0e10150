"""Harmony against a wider search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import mean

import numpy as np

from experiments import Chart, Figure, Options, Steps, Table
from experiments._grid import Maker, Player
from experiments._groups import SEEDS, of, outcomes_of, parts_of, table1
from scheduling.colocation.selection.exhaustive import all_pairs, exact
from scheduling.colocation.selection.group_selection import schedule
from scheduling.colocation.selection.grouping import Work

TITLE = "Algorithm 1 compared with a search over all numbers of jobs and groups, in one decision and in a whole run"
PAPER = "Harmony, Fig. 14, Section V-F"
CLAIM = "Algorithm 1 is up to about 2 % worse than an exhaustive search"
SETTING = (
    "80 jobs on 100 machines: the exhaustive search of the paper cannot cover all groupings (more than 10⁹⁰), and the "
    "paper does not state its limits; this one covers every number of jobs with every number of groups up to 24. 7 "
    "jobs on 16 machines: exact over all subsets of jobs, while Algorithm 1 considers prefixes"
)
TINY = 40  # workloads of 7 jobs
CHARTS = (
    Chart("time", "h", ("makespan, h", "completion, h")),
    Chart("share of all machines that are busy", "", ("CPU", "network")),
)


def run(options: Options) -> Steps:
    seeds = options.seeds_or(SEEDS)
    runs: dict[str, tuple[Maker, Player]] = {
        "Harmony": (table1, ("harmony", {})), "Oracle": (table1, ("oracle", {})),
    }  # fmt: skip
    values = yield {"single decisions": partial(_decisions, seeds), **parts_of(runs, seeds)}
    found = outcomes_of(values, runs)
    pairs, tiny = values["single decisions"]["pairs"], values["single decisions"]["tiny"]
    own, wide = found["Harmony"], found["Oracle"]
    rows = tuple(
        (
            name,
            of(found, "makespan") / 3.6e6,
            of(found, "completion") / 3.6e6,
            of(found, "cpu"),
            of(found, "net"),
            of(found, "jobs"),
        )
        for name, found in (("Harmony", own), ("Oracle (all pairs)", wide))
    )
    checks = (
        Figure("one decision, worst gap to all pairs", max(pairs), "share", 0.005),
        Figure("small cases, mean gap to the optimum", mean(tiny), "share", 0.05),
        Figure("small cases, worst gap to the optimum", max(tiny), "share"),
        Figure(
            "whole run, makespan above that of the Oracle",
            of(own, "makespan") / of(wide, "makespan") - 1,
            "share",
            0.06,
        ),
        Figure(
            "whole run, completion time above that of the Oracle",
            of(own, "completion") / of(wide, "completion") - 1,
            "share",
            0.06,
        ),
    )
    return Table(("search", "makespan, h", "completion, h", "CPU", "network", "jobs"), rows, checks)


def _decisions(seeds: Sequence[int]) -> dict[str, list[float]]:
    """Gap of single decisions of Algorithm 1 to all pairs, and to the optimum of small cases."""
    pairs, tiny = [], []
    for seed in seeds:
        work = _work(80, 100, seed)
        best, ours = all_pairs(work), schedule(work)
        assert best is not None
        assert ours is not None
        pairs.append(float(1 - ours.score / best.score))
    for seed in range(TINY):
        work = _work(7, 16, seed)
        top, ours = exact(work), schedule(work)
        assert top is not None
        assert ours is not None
        tiny.append(float(1 - ours.score / top.score))
    return {"pairs": pairs, "tiny": tiny}


def _work(jobs: int, machines: int, seed: int) -> Work:
    _, rows = table1(seed, jobs)
    comp, comm = (
        np.array([getattr(job, name) for job in rows], dtype=float) for name in ("comp_machine_ms", "comm_ms")
    )
    return Work(comp, comm, machines, np.zeros(jobs), np.zeros(jobs))
