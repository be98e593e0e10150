"""Jobs of a table as a sequence, and values of jobs whether they are stored as columns or as objects."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, overload

import numpy as np

from scheduling.model.held import Sizes, earlier_sizes_of, sizes_of
from scheduling.model.values import ZERO, EarlierSize, Job
from twin.files.job_table import JobTable
from twin.infra import gc_control

BLOCK = 32  # jobs that are made together: one alone takes three times as long as in a block
_making = threading.Lock()


class StoredJobs(Sequence[Job]):
    """The jobs of a table as a sequence: objects are made in blocks, as they are asked for."""

    def __init__(self, table: JobTable) -> None:
        self.table = table
        self._made: list[Job] | None = None
        self._kept: dict[int, Job] = {}  # jobs that were asked for, with those of their blocks

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        if self._made is not None:
            return self._made[index]
        rows, kept = range(len(self))[index], self._kept
        if isinstance(rows, range):
            self._keep(rows)
            return [kept[row] for row in rows]
        if rows not in kept:
            self._keep((rows,))
        return kept[rows]

    def __iter__(self) -> Iterator[Job]:
        return iter(self.made())

    def _keep(self, rows: Iterable[int]) -> None:
        """Objects of each block with a given row that has no object yet; they are made and kept."""
        blocks = sorted({row // BLOCK for row in rows if row not in self._kept})
        missing = [row for block in blocks for row in range(block * BLOCK, min((block + 1) * BLOCK, len(self)))]
        if missing:
            self._kept |= dict(zip(missing, self.some(missing), strict=True))

    def some(self, rows: Sequence[int]) -> list[Job]:
        """Values of some rows."""
        made = self._made
        return (
            [made[row] for row in rows]
            if made is not None
            else list(self.table.take(np.asarray(rows, dtype=np.int64)).jobs())
        )

    def made(self) -> list[Job]:
        """Jobs as objects, which are kept from now on."""
        with _making:  # threads that ask at once share them
            if self._made is None:
                with gc_control.paused():
                    self._made = list(self.table.jobs())
                self._kept = {}
        return self._made


def some_of(jobs: Sequence[Job], rows: Sequence[int]) -> list[Job]:
    """The jobs of some rows."""
    return jobs.some(rows) if isinstance(jobs, StoredJobs) else [jobs[row] for row in rows]


def part_of(jobs: Sequence[Job], rows: np.ndarray) -> Sequence[Job]:
    """The jobs of some rows, stored as before."""
    return StoredJobs(jobs.table.take(rows)) if isinstance(jobs, StoredJobs) else [jobs[row] for row in rows.tolist()]


def objects_of(jobs: Sequence[Job]) -> Sequence[Job]:
    """Jobs as objects, for code that reads each of them."""
    return jobs.made() if isinstance(jobs, StoredJobs) else jobs


def field_of(jobs: Sequence[Job], name: str) -> list[Any]:
    """Field of all jobs, without objects for jobs that are stored as columns."""
    return jobs.table.values(name) if isinstance(jobs, StoredJobs) else [getattr(job, name) for job in jobs]


def demands_of(jobs: Sequence[Job], name: str) -> np.ndarray:
    """int64 [job, resource] of `worker` or `ps`; zero where a job has none."""
    if isinstance(jobs, StoredJobs):
        column = jobs.table.columns.get(name)
        return np.zeros((len(jobs), len(ZERO)), dtype=np.int64) if column is None else np.maximum(column, 0)
    return np.array([getattr(job, name) or ZERO for job in jobs], dtype=np.int64).reshape(-1, len(ZERO))


def earlier_sizes(jobs: Sequence[Job]) -> dict[int, Sequence[EarlierSize]]:
    """{job: its earlier sizes}; traces, whose jobs are columns, have none."""
    return {} if isinstance(jobs, StoredJobs) else earlier_sizes_of(jobs)


def sizes_of_jobs(jobs: Sequence[Job]) -> Sizes:
    """Amounts that one unit of a bar holds."""
    return sizes_of(demands_of(jobs, "worker"), demands_of(jobs, "ps"), earlier_sizes(jobs))


def any_utility(jobs: Sequence[Job]) -> bool:
    """True if any of the jobs has a utility."""
    if isinstance(jobs, StoredJobs):
        return jobs.table.utility is not None and not np.isnan(jobs.table.utility).all()
    return any(job.utility is not None for job in jobs)


def same_jobs(jobs: Sequence[Job], others: Sequence[Job]) -> bool:
    """True if both are equal in every field."""
    if len(jobs) != len(others):
        return False
    return all(field_of(jobs, field.name) == field_of(others, field.name) for field in fields(Job))
