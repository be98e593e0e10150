"""Exclusive tasks: one worker at a time computes a task for a key, under a lease in the database.

The lease is renewed while the task computes and freed by its owner at the end. That of a worker which died is free: at
once for workers of the same host, after LEASE for others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from twin.models import TaskLease
from twin.processes import bounded_process
from twin.runs import lease

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=15)


class Held:
    """Lease that this process has taken."""

    def __init__(self, task: str, key: int, owner: str) -> None:
        self.name = f"{task} of {key}"
        self.row = TaskLease.objects.filter(task=task, key=key, owner=owner)
        self.until = time.monotonic() + LEASE.total_seconds()

    def run(
        self, work: Callable[[], object], *, limit_s: float, wanted: Callable[[], bool] = lambda: True
    ) -> bounded_process.Outcome:
        """Outcome of `work` in a process of its own (bounded_process.run), which ends when the lease is lost."""
        outcome = bounded_process.run(work, limit_s=limit_s, wanted=lambda: self.renew() and self._wanted(wanted))
        if outcome in bounded_process.FAILURES and not self.renew():
            return "unwanted"  # it is for the new owner to report a failure
        return outcome

    def _wanted(self, wanted: Callable[[], bool]) -> bool:
        """True also if the database does not answer, as long as the lease lasts."""
        try:
            return wanted()
        except (OperationalError, InterfaceError):
            connection.close_if_unusable_or_obsolete()
            return time.monotonic() < self.until

    def renew(self) -> bool:
        """True if this process still has the lease. If the database does not answer, it is kept until it expires."""
        try:
            found = self.row.update(until=timezone.now() + LEASE)
        except (OperationalError, InterfaceError) as error:
            log.warning("%s: its lease could not be renewed: %s", self.name, error)
            connection.close_if_unusable_or_obsolete()
            return time.monotonic() < self.until
        self.until = time.monotonic() + LEASE.total_seconds()
        return found > 0


@contextmanager
def held(task: str, key: int) -> Iterator[Held | None]:
    """The lease of a task for a key, freed at the end; None if another worker has it."""
    owner = lease.new_owner()
    _remove_free(task)
    defaults = {"owner": owner, "until": timezone.now() + LEASE}
    _, taken = TaskLease.objects.get_or_create(task=task, key=key, defaults=defaults)
    if not taken:
        yield None
        return
    mine = Held(task, key, owner)
    try:
        yield mine
    finally:
        try:
            mine.row.delete()
        except (OperationalError, InterfaceError) as error:  # it expires
            log.warning("%s: its lease could not be freed: %s", mine.name, error)


def in_progress(task: str) -> set[int]:
    """Keys for which a worker computes the task."""
    return {row.key for row in TaskLease.objects.filter(task=task) if _in_force(row)}


def _remove_free(task: str) -> None:
    """Removal of the leases of the task that workers which died have left, unless they were taken meanwhile."""
    for row in TaskLease.objects.filter(task=task):
        if not _in_force(row):
            TaskLease.objects.filter(pk=row.pk, until=row.until).delete()


def _in_force(row: TaskLease) -> bool:
    return lease.in_force(row.until, row.owner, LEASE)
