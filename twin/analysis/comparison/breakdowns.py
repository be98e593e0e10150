"""Breakdowns of metrics by model, size and site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scheduling.model.values import GPU, Job
from scheduling.reporting.metric_table import BY_KEY
from twin.analysis.comparison.metrics import against, mean
from twin.analysis.comparison.outcomes import CLOUD, EDGE, Outcomes
from twin.files.job_table import coded
from twin.files.stored_jobs import any_utility, demands_of, field_of

MAX_MODELS = 12  # the others are one part
BREAKDOWN_METRICS = ("mean_jct_ms", "mean_delay_factor", "completed", "rejected", "total_utility")  # their keys
SITES = (("edge only", EDGE), ("cloud only", CLOUD), ("edge and cloud", EDGE | CLOUD), ("no site yet", 0))
Parts = list[tuple[str, list[np.ndarray]]]  # name, and of each run the indexes of its jobs


def breakdowns(
    runs: list[tuple[Outcomes, np.ndarray]],
    jobs: Sequence[tuple[Sequence[Job], np.ndarray]],
    ranked: Callable[[str], Sequence[bool]],
) -> dict[str, list[dict[str, Any]]]:
    """{by: [{name, jobs: [n], completed: [{value, delta, ...}], ...}]}; one value a run, against the first.

    runs: each with the indexes of its shared jobs.
    jobs: for each run (the list of jobs from which models and sizes are read, the indexes of the shared jobs in it);
    runs of the trace of the first run have the list of the first run.
    ranked(key): as in `against`.
    """
    lists = list({id(listed): (listed, shared) for listed, shared in jobs}.values())  # each once
    place = {id(listed): i for i, (listed, _) in enumerate(lists)}
    models, names = _models(lists)
    sizes, widths = _sizes([_gpus(listed)[shared] for listed, shared in lists])
    own = [place[id(listed)] for listed, _ in jobs]
    found = {
        "model": _shared(runs, [models[i] for i in own], names),
        "size": _shared(runs, [sizes[i] for i in own], widths),
        "site": _sites(runs),
    }
    outcomes = [(one, any_utility(listed)) for (one, _), (listed, _) in zip(runs, jobs, strict=True)]
    return {by: [_row(name, outcomes, rows, ranked) for name, rows in named] for by, named in found.items()}


def _row(
    name: str,
    outcomes: Sequence[tuple[Outcomes, bool]],
    rows: list[np.ndarray],
    ranked: Callable[[str], Sequence[bool]],
) -> dict[str, Any]:
    values = [_metrics(one, of_run, worth) for (one, worth), of_run in zip(outcomes, rows, strict=True)]
    return {"name": name, "jobs": [len(of_run) for of_run in rows]} | {
        key: against([metrics[key] for metrics in values], BY_KEY[key].direction, BY_KEY[key].unit, ranked(key))
        for key in BREAKDOWN_METRICS
    }


def _metrics(outcomes: Outcomes, rows: np.ndarray, worth: bool) -> dict[str, Any]:
    return {
        "completed": int((outcomes.completed_ms[rows] >= 0).sum()),
        "rejected": int(outcomes.rejected[rows].sum()),
        "mean_jct_ms": mean(outcomes.jct_ms[rows]),
        "mean_delay_factor": mean(outcomes.delay_factor[rows]),
        "total_utility": float(outcomes.utility[rows].sum()) if worth else None,
    }


def _shared(runs: list[tuple[Outcomes, np.ndarray]], codes: Sequence[np.ndarray], names: Sequence[str]) -> Parts:
    """Parts by a property of the job in its trace; only jobs that have arrived. codes: of each run, [shared job]."""
    named = []
    for code, name in enumerate(names):
        rows = [
            index[(own == code) & (outcomes.arrived_ms[index] >= 0)]
            for (outcomes, index), own in zip(runs, codes, strict=True)
        ]
        if any(map(len, rows)):
            named.append((name, rows))
    return named


def _sites(runs: list[tuple[Outcomes, np.ndarray]]) -> Parts:
    """Sites of the workers of each job, in each run separately."""
    named = []
    for name, bits in SITES:
        rows = [index[(outcomes.sites[index] == bits) & (outcomes.arrived_ms[index] >= 0)] for outcomes, index in runs]
        if any(map(len, rows)):
            named.append((name, rows))
    return named


def _models(lists: Sequence[tuple[Sequence[Job], np.ndarray]]) -> tuple[list[np.ndarray], list[str]]:
    """(for each list the part of each shared job, names), the most common first."""
    models = coded([name for jobs, _ in lists for name in field_of(jobs, "model")])
    words: list[str] = list(models.words)
    parts = _split(models.codes, [len(jobs) for jobs, _ in lists])
    codes = [part[shared] for part, (_, shared) in zip(parts, lists, strict=True)]
    counts = np.bincount(np.concatenate(codes), minlength=len(words)).tolist()
    order = sorted((code for code, count in enumerate(counts) if count), key=lambda code: (-counts[code], words[code]))
    rank = np.zeros(len(words), dtype=np.int64)
    rank[order] = np.arange(len(order))
    names = [words[code] for code in order]
    if len(names) > MAX_MODELS:
        names = [*names[: MAX_MODELS - 1], f"{len(names) - MAX_MODELS + 1} other models"]
    return [np.minimum(rank[of_list], len(names) - 1) for of_list in codes], names


def _split(joined: np.ndarray, lengths: Sequence[int]) -> list[np.ndarray]:
    return np.split(joined, np.cumsum(lengths)[:-1])


def _gpus(jobs: Sequence[Job]) -> np.ndarray:
    """[job] GPUs of all the workers asked for; a worker counts as one GPU where the trace names none."""
    asked = np.array([workers or 0 for workers in field_of(jobs, "requested_workers")])
    of_one = demands_of(jobs, "worker")[:, GPU]
    return asked * np.where(of_one, of_one, 1000) / 1000


def _sizes(lists: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[str]]:
    """(for each list the part of each job, names): sizes in powers of two."""
    gpus = np.concatenate(lists)
    powers = np.where(gpus > 0, np.ceil(np.log2(np.maximum(gpus, 1))), np.inf)
    found = np.unique(powers)
    return _split(np.searchsorted(found, powers), [len(part) for part in lists]), [
        _size(power) for power in found.tolist()
    ]


def _size(power: float) -> str:
    if power == np.inf:
        return "unknown"
    return f"over {2 ** (power - 1):g}, up to {2**power:g} GPU" if power else "up to 1 GPU"
