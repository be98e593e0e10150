"""Lateness of jobs: completion minus target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments import Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, Instance
from experiments._lateness import LATENESS, lateness
from scheduling.model.values import Utility
from scheduling.workloads import generate

TITLE = "completion minus target of time-sensitive and time-critical jobs"
PAPER = "OASiS, Fig. 4"
CLAIM = "Under OASiS, jobs complete closest to their targets, with the least variance"
SLOTS, JOBS = 100, 100
SETTING = (
    f"{SLOTS} slots, 50 + 50 servers, {JOBS} sensitive and {JOBS} critical jobs, {CALIBRATED}, {FROM_HISTORY}, 1 seed; "
    "completed jobs only"
)
SENSITIVITY = ((0.01, 1.0), (4.0, 6.0))
SEEDS = 1
NEEDS = ("scipy",)
CHARTS = LATENESS


def run(options: Options, jobs: int = JOBS) -> Steps:
    return (yield from lateness(lambda seed: two_kinds(seed, jobs), options.seeds_or(SEEDS)))


def two_kinds(seed: int, each: int) -> Instance:
    """The workload of OASiS with as many sensitive as critical jobs, in a random order."""
    cluster, jobs = generate("oasis", num_jobs=2 * each, num_servers=100, seed=seed, horizon_slots=SLOTS)
    rng = np.random.default_rng([seed, 4])
    changed = []
    for job, kind in zip(jobs, rng.permutation(np.arange(len(jobs)) % 2).tolist(), strict=True):
        assert job.utility is not None
        worth = Utility(job.utility.priority, float(rng.uniform(*SENSITIVITY[kind])), job.utility.target_slots)
        changed.append(replace(job, utility=worth))
    return cluster, changed
