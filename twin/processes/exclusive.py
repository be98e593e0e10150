"""Exclusive tasks: one worker at a time computes a task for a key, under a lease in the database.

The lease is renewed while the task computes and freed by its owner at the end. The lease of a worker that died is
free at once for workers of the same host, and after LEASE for others.

A task in progress can be cancelled: its worker loses the lease, ends within seconds, and no other one takes it for a
while, or until somebody requests the task again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

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
        outcome = bounded_process.run(work, limit_s=limit_s, wanted=lambda: self._renewed() and wanted())
        if outcome in bounded_process.FAILURES and not self.renew():
            return "unwanted"  # it is for the new owner to report a failure
        return outcome

    def renew(self) -> bool:
        """True if this process still has the lease. If the database does not answer, it is kept until it expires."""
        try:
            return self._renewed()
        except (OperationalError, InterfaceError) as error:
            log.warning("%s: its lease could not be renewed: %s", self.name, error)
            connection.close_if_unusable_or_obsolete()
            return time.monotonic() < self.until

    def _renewed(self) -> bool:
        """The same; an error if the database does not answer."""
        found = self.row.update(until=timezone.now() + LEASE)
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
    return {row.key for row in TaskLease.objects.filter(task=task, cancelled=False) if _in_force(row)}


def not_to_request(task: str) -> set[int]:
    """Keys whose task is not to be requested: it is in progress or was cancelled."""
    return {row.key for row in TaskLease.objects.filter(task=task) if _in_force(row)}


def cancelled(task: str) -> set[int]:
    """Keys whose task was cancelled and is not computed until somebody requests it, or its time is over."""
    return {row.key for row in TaskLease.objects.filter(task=task, cancelled=True) if _in_force(row)}


def cancel(task: str, key: int, until: datetime) -> bool:
    """Cancellation of the task in progress; no other begins before `until`. False if no worker computes it."""
    if key not in in_progress(task):
        return False
    mine = TaskLease.objects.filter(task=task, key=key, cancelled=False)
    return mine.update(owner="", cancelled=True, until=until) > 0


def allow(task: str, key: int) -> bool:
    """Permission after a cancel; False if the task was not cancelled."""
    return TaskLease.objects.filter(task=task, key=key, cancelled=True).delete()[0] > 0


def abandoned(task: str) -> set[int]:
    """Keys whose worker died before the end of the task."""
    return {row.key for row in TaskLease.objects.filter(task=task, cancelled=False) if not _in_force(row)}


def _remove_free(task: str) -> None:
    """Removal of the leases of the task that workers which died have left, unless they were taken meanwhile."""
    for row in TaskLease.objects.filter(task=task):
        if not _in_force(row):
            TaskLease.objects.filter(pk=row.pk, until=row.until).delete()


def _in_force(row: TaskLease) -> bool:
    if row.cancelled:
        return timezone.now() < row.until
    return lease.in_force(row.until, row.owner, LEASE)
