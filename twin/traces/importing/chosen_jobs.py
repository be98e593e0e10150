"""Chosen jobs of a parsed upload: those of the selection, with sampled values of what the trace lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from twin.files.job_table import JobTable
from twin.files.jobs_jsonl import job_to_dict
from twin.traces import synthesis
from twin.traces.importing.choice import Choice
from twin.traces.importing.parsing import Part

PREVIEW = 20  # jobs that a page shows


def chosen_jobs(
    parts: Sequence[Part],
    choice: Choice,
    seed: int,
    slot_ms: int,
    tick: Callable[[float], None],
    outside_range: Counter[str],
) -> Iterator[JobTable]:
    """The chosen jobs, with sampled values of what the trace lacks."""
    for part in parts:
        drafts, jobs = part.read.drafts, part.read.jobs
        if drafts is not None:
            rows = choice.rows(drafts.arrival_ms, drafts.known.get("group"), partial(_draws, seed, drafts.keys))
            chosen = drafts.take(rows)
            yield from synthesis.fill(
                replace(chosen, arrival_ms=choice.arrivals(chosen.arrival_ms)), seed, slot_ms, tick, outside_range
            )
        elif jobs is not None:
            whole = jobs.take(choice.rows(jobs.columns["arrival_ms"], None, partial(_draws, seed, jobs.ids)))
            yield whole.moved(choice.arrivals(whole.columns["arrival_ms"]))


def _draws(seed: int, keys: np.ndarray) -> np.ndarray:
    """[job] random number from 0 to 1 that only the seed and the job's id decide."""
    return synthesis.Draws(seed, [str(key) for key in keys.tolist()]).unit("sample")


class FirstJobs:
    """Collector of the first jobs, as plain rows."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows: list[dict[str, Any]] = []

    def add(self, table: JobTable) -> None:
        room = self.most - len(self.rows)
        self.rows += [job_to_dict(job) for job in table.take(slice(0, max(0, room))).jobs()]


def first_jobs(parts: Sequence[Part], seed: int, slot_ms: int) -> list[dict[str, Any]]:
    """The first jobs as they will be understood."""
    preview = FirstJobs(PREVIEW)
    for table in chosen_jobs(parts, Choice(limit=PREVIEW), seed, slot_ms, lambda _: None, Counter()):
        preview.add(table)
    return preview.rows
