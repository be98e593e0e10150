"""Note on runs whose jobs have speeds of different origins, for charts and tables that compare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from scheduling.model.speed_origin import STATED, origin_of
from scheduling.model.values import Job
from scheduling.reporting.quantities import counted
from twin.files.stored_jobs import StoredJobs, some_of

DIFFER = "The speeds of the jobs are derived from different models"
Origins = Mapping[str, int]  # {origin in words: number of jobs}, without jobs of unknown speed


def origins_of(jobs: Sequence[Job]) -> Origins:
    """Origins of the speeds of jobs, the most frequent first."""
    if not isinstance(jobs, StoredJobs):
        return dict(Counter(origin for job in jobs if (origin := origin_of(job))).most_common())
    table = jobs.table  # jobs with the same provenance and the same fields have the same origin
    keys = np.zeros(len(jobs), dtype=np.int64) if table.provenance is None else table.provenance.codes + 1
    for name in STATED:
        keys = 2 * keys + table.has(name)
    _, rows, counts = np.unique(keys, return_index=True, return_counts=True)
    found: Counter[str] = Counter()
    for job, count in zip(some_of(jobs, rows.tolist()), counts.tolist(), strict=True):
        if origin := origin_of(job):
            found[origin] += count
    return dict(found.most_common())


def note_of_runs(runs: Mapping[int, Sequence[Job]]) -> str | None:
    """Note on runs, by number with their jobs; None if all speeds have one origin."""
    distinct = {id(jobs): jobs for jobs in runs.values()}  # runs of a trace share its jobs
    origins = {key: origins_of(jobs) for key, jobs in distinct.items()}
    if len({origin for found in origins.values() for origin in found}) < 2:
        return None
    by_words: dict[str, list[int]] = {}
    for number, jobs in runs.items():
        if found := origins[id(jobs)]:
            by_words.setdefault(_words(found), []).append(number)
    return f"{DIFFER}: {'; '.join(f'{words} in {_named(numbers)}' for words, numbers in by_words.items())}."


def note_of_jobs(jobs: Sequence[Job]) -> str | None:
    """Note on jobs that all runs have; None if their speeds have one origin."""
    origins = origins_of(jobs)
    return f"{DIFFER}: {_words(origins)}." if len(origins) > 1 else None


def _words(origins: Origins) -> str:
    if len(origins) == 1:
        return next(iter(origins))
    return " and ".join(f"{origin} ({counted(count, 'job')})" for origin, count in origins.items())


def _named(runs: Sequence[int]) -> str:
    """'run 1', 'runs 1, 2 and 3'"""
    *others, last = map(str, runs)
    return f"runs {', '.join(others)} and {last}" if others else f"run {last}"
