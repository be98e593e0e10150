"""Figures by model, size and site: where one run is better than the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model import Job
from twin.comparing.figures import HIGHER, LOWER, against, mean
from twin.comparing.lives import CLOUD, EDGE, STATES, Lives

MOST_MODELS = 12  # the others are one group
FIGURES = (("completed", HIGHER), ("rejected", LOWER), ("mean_jct_ms", LOWER), ("mean_slowdown", LOWER), ("utility", HIGHER))
SITES = (("edge only", EDGE), ("cloud only", CLOUD), ("edge and cloud", EDGE | CLOUD), ("nowhere yet", 0))
Groups = list[tuple[str, list[np.ndarray]]]  # name, and of each run the indexes of its jobs


def groups(runs: list[tuple[Lives, np.ndarray]], jobs: Sequence[Job]) -> dict[str, list[dict[str, Any]]]:
    """{by: [{name, jobs: [n], completed: [{value, delta, ...}], ...}]}; one value a run, against the first.

    runs: each with the indexes of its shared jobs; jobs: the shared ones, as the first run has them.
    """
    found = {"model": _shared(runs, *_models(jobs)), "size": _shared(runs, *_sizes(jobs)), "site": _sites(runs)}
    return {by: [_row(name, runs, rows) for name, rows in named] for by, named in found.items()}


def _row(name: str, runs: list[tuple[Lives, np.ndarray]], rows: list[np.ndarray]) -> dict[str, Any]:
    told = [_figures(lives, of_run) for (lives, _), of_run in zip(runs, rows, strict=True)]
    return {"name": name, "jobs": [len(of_run) for of_run in rows]} | {
        key: against([figures[key] for figures in told], better) for key, better in FIGURES
    }


def _figures(lives: Lives, rows: np.ndarray) -> dict[str, Any]:
    return {
        "completed": int((lives.completed_ms[rows] >= 0).sum()),
        "rejected": int((lives.states[rows] == STATES.index("rejected")).sum()),
        "mean_jct_ms": mean(lives.jct_ms[rows]),
        "mean_slowdown": mean(lives.slowdown[rows]),
        "utility": float(lives.utility[rows].sum()),
    }


def _shared(runs: list[tuple[Lives, np.ndarray]], codes: np.ndarray, names: Sequence[str]) -> Groups:
    """Groups that a job is in whatever the run; only jobs that have arrived."""
    named = []
    for code, name in enumerate(names):
        members = codes == code
        rows = [index[members & (lives.arrived_ms[index] >= 0)] for lives, index in runs]
        if any(map(len, rows)):
            named.append((name, rows))
    return named


def _sites(runs: list[tuple[Lives, np.ndarray]]) -> Groups:
    """Where the workers of a job stand is the run's own."""
    named = []
    for name, bits in SITES:
        rows = [index[(lives.sites[index] == bits) & (lives.arrived_ms[index] >= 0)] for lives, index in runs]
        if any(map(len, rows)):
            named.append((name, rows))
    return named


def _models(jobs: Sequence[Job]) -> tuple[np.ndarray, list[str]]:
    """(group of each job, names), the most common first."""
    words, codes, counts = np.unique(np.array([job.model for job in jobs]), return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    names = [str(words[i]) for i in order]
    if len(names) > MOST_MODELS:
        names = [*names[: MOST_MODELS - 1], f"{len(names) - MOST_MODELS + 1} other models"]
    return np.minimum(rank[codes.reshape(-1)], len(names) - 1), names


def _sizes(jobs: Sequence[Job]) -> tuple[np.ndarray, list[str]]:
    """By GPUs of all the workers asked for, in powers of two; a worker counts as one GPU where the trace names none."""
    gpus = np.array([(job.requested_workers or 0) * ((job.worker and job.worker[0]) or 1000) / 1000 for job in jobs])
    powers = np.where(gpus > 0, np.ceil(np.log2(np.maximum(gpus, 1))), np.inf)
    found = np.unique(powers)
    return np.searchsorted(found, powers), [_size(power) for power in found.tolist()]


def _size(power: float) -> str:
    if power == np.inf:
        return "not told"
    return f"over {2 ** (power - 1):g}, up to {2**power:g} GPU" if power else "up to 1 GPU"
