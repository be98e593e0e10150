"""Spans in which each job runs, or another owner of bars, and how often it stopped and ran again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.model.bars import CHUNK, END, JOB, START

_FITS = 1 << 62


class Spans(NamedTuple):
    """Maximal spans, by job and time, as columns."""

    job: np.ndarray
    start_ms: np.ndarray
    end_ms: np.ndarray


def union(job: np.ndarray, start_ms: np.ndarray, end_ms: np.ndarray) -> Spans:
    """The union of each job's bars; spans that touch are one."""
    if not len(job):
        return Spans(job, start_ms, end_ms)
    order, latest, same = reached(job, start_ms, end_ms)
    job, start, end = job[order], start_ms[order], end_ms[order]
    begins = np.flatnonzero(~same | (start > latest))
    return Spans(job[begins], start[begins], np.maximum.reduceat(end, begins))


def reached(job: np.ndarray, start_ms: np.ndarray, end_ms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bars by job and start: (order, latest end of those before of the same job, whether there is one before)."""
    order = _order(job, start_ms)
    job, end = job[order], end_ms[order]
    same = np.concatenate(([False], job[1:] == job[:-1]))
    ends: np.ndarray | None = None
    low, high = int(end.min()), int(end.max())
    if (high - low + 1) * len(end) >= _FITS:  # what has not ended ends at 2^53; places among the ends are small
        ends, end = np.unique(end, return_inverse=True)
        low, high = 0, len(ends)
    lift = np.cumsum(~same) * (high - low + 1)  # a running maximum that starts over with each job
    latest = np.maximum.accumulate(end.reshape(-1) + lift) - lift
    latest = latest if ends is None else ends[latest]
    return order, np.concatenate(([0], latest[:-1])), same


def suspensions(workers: np.ndarray, jobs: int, *, of_chunks: bool = True) -> np.ndarray:
    """[job] times at which a chunk of it stopped and ran again later; or, where it has none, the job itself.

    workers: bars of workers. of_chunks: False counts the times at which the whole job stopped.
    """
    if not len(workers):
        return np.zeros(jobs, dtype=np.int64)
    owner, of_owner = workers[:, JOB], np.arange(jobs)
    if of_chunks and (workers[:, CHUNK] >= 0).any():
        chains, owner = np.unique(workers[:, [JOB, CHUNK]], axis=0, return_inverse=True)
        owner, of_owner = owner.reshape(-1), chains.T[0]
    spans = union(owner, workers[:, START], workers[:, END])
    stopped = np.bincount(spans.job, minlength=len(of_owner)) - 1
    return np.bincount(of_owner, weights=np.maximum(0, stopped), minlength=jobs).astype(np.int64)


def _order(job: np.ndarray, start_ms: np.ndarray) -> np.ndarray:
    """Order by job and start: as one number if it fits, which sorts several times faster than two columns."""
    low = int(start_ms.min())
    width = int(start_ms.max()) - low + 1
    if (int(job.max()) + 1) * width < _FITS and int(job.min()) >= 0:
        return np.argsort(job * width + (start_ms - low), kind="stable")
    return np.lexsort((start_ms, job))
