"""Breakdowns of metrics by model, size and site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scheduling.model.values import Job
from scheduling.reporting.metric_table import BY_KEY
from twin.analysis.comparison.metrics import against, mean
from twin.analysis.comparison.outcomes import CLOUD, EDGE, Outcomes
from twin.files.job_table import coded
from twin.files.stored_jobs import any_utility, demands_of, field_of

MAX_MODELS = 12  # the others are one group
GROUPED = ("mean_jct_ms", "mean_delay_factor", "completed", "rejected", "total_utility")  # keys of the table of metrics
SITES = (("edge only", EDGE), ("cloud only", CLOUD), ("edge and cloud", EDGE | CLOUD), ("no site yet", 0))
Groups = list[tuple[str, list[np.ndarray]]]  # name, and of each run the indexes of its jobs


def groups(
    runs: list[tuple[Outcomes, np.ndarray]],
    jobs: Sequence[Job],
    shared: np.ndarray,
    ranked: Callable[[str], Sequence[bool]],
) -> dict[str, list[dict[str, Any]]]:
    """{by: [{name, jobs: [n], completed: [{value, delta, ...}], ...}]}; one value a run, against the first.

    runs: each with the indexes of its shared jobs; jobs: those of the first run, of which `shared` are in all; ranked:
    as in `against`, by key.
    """
    models, sizes = coded(field_of(jobs, "model")), _gpus(jobs)[shared]
    found = {
        "model": _shared(runs, *_models(models.codes[shared], models.words)),
        "size": _shared(runs, *_sizes(sizes)),
        "site": _sites(runs),
    }
    outcomes, worth = [one for one, _ in runs], any_utility(jobs)
    return {by: [_row(name, outcomes, rows, ranked, worth) for name, rows in named] for by, named in found.items()}


def _row(
    name: str,
    outcomes: Sequence[Outcomes],
    rows: list[np.ndarray],
    ranked: Callable[[str], Sequence[bool]],
    worth: bool,
) -> dict[str, Any]:
    values = [_figures(one, of_run, worth) for one, of_run in zip(outcomes, rows, strict=True)]
    return {"name": name, "jobs": [len(of_run) for of_run in rows]} | {
        key: against([figures[key] for figures in values], BY_KEY[key].direction, BY_KEY[key].unit, ranked(key))
        for key in GROUPED
    }


def _figures(outcomes: Outcomes, rows: np.ndarray, worth: bool) -> dict[str, Any]:
    return {
        "completed": int((outcomes.completed_ms[rows] >= 0).sum()),
        "rejected": int(outcomes.rejected[rows].sum()),
        "mean_jct_ms": mean(outcomes.jct_ms[rows]),
        "mean_delay_factor": mean(outcomes.delay_factor[rows]),
        "total_utility": float(outcomes.utility[rows].sum()) if worth else None,
    }


def _shared(runs: list[tuple[Outcomes, np.ndarray]], codes: np.ndarray, names: Sequence[str]) -> Groups:
    """Groups that a job is in whatever the run; only jobs that have arrived."""
    named = []
    for code, name in enumerate(names):
        members = codes == code
        rows = [index[members & (outcomes.arrived_ms[index] >= 0)] for outcomes, index in runs]
        if any(map(len, rows)):
            named.append((name, rows))
    return named


def _sites(runs: list[tuple[Outcomes, np.ndarray]]) -> Groups:
    """Sites of the workers of each job, in each run separately."""
    named = []
    for name, bits in SITES:
        rows = [index[(outcomes.sites[index] == bits) & (outcomes.arrived_ms[index] >= 0)] for outcomes, index in runs]
        if any(map(len, rows)):
            named.append((name, rows))
    return named


def _models(codes: np.ndarray, words: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """(group of each job, names), the most common first."""
    counts = np.bincount(codes, minlength=len(words)).tolist()
    order = sorted((code for code, count in enumerate(counts) if count), key=lambda code: (-counts[code], words[code]))
    rank = np.zeros(len(words), dtype=np.int64)
    rank[order] = np.arange(len(order))
    names = [words[code] for code in order]
    if len(names) > MAX_MODELS:
        names = [*names[: MAX_MODELS - 1], f"{len(names) - MAX_MODELS + 1} other models"]
    return np.minimum(rank[codes], len(names) - 1), names


def _gpus(jobs: Sequence[Job]) -> np.ndarray:
    """[job] GPUs of all the workers asked for; a worker counts as one GPU where the trace names none."""
    asked = np.array([workers or 0 for workers in field_of(jobs, "requested_workers")])
    of_one = demands_of(jobs, "worker")[:, 0]
    return asked * np.where(of_one, of_one, 1000) / 1000


def _sizes(gpus: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Sizes in powers of two."""
    powers = np.where(gpus > 0, np.ceil(np.log2(np.maximum(gpus, 1))), np.inf)
    found = np.unique(powers)
    return np.searchsorted(found, powers), [_size(power) for power in found.tolist()]


def _size(power: float) -> str:
    if power == np.inf:
        return "unknown"
    return f"over {2 ** (power - 1):g}, up to {2**power:g} GPU" if power else "up to 1 GPU"
