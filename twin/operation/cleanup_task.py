"""The clean-up: retention and the packing of logs, once an hour and when an admin has asked for it.

What a clean-up that an admin has asked for has removed is in its entry of the audit list, which changes together with
each portion: if its worker is killed, another one continues the clean-up and the entry.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db.models import QuerySet

from twin.eventlog import packing
from twin.models import AuditEntry
from twin.operation import retention
from twin.processes import bounded_process, exclusive
from twin.processes.bounded_process import Outcome
from twin.processes.requests import TaskRequests

log = logging.getLogger(__name__)
TASK, QUEUE = "apply_retention", "io"
KEY = 0  # there is one clean-up
REQUEST, RUN = "retention.request", "retention.run"  # entries of the audit list
UNFINISHED = "unfinished"  # in the detail of the entry of a clean-up that has not ended
EVERY_S = 3_600.0
ASKED_S = 30.0  # a request that no worker accepted for this long is repeated
MAX_S = 120.0  # of retention, and of packing, each; the next clean-up removes the rest


class Requests(TaskRequests):
    """Requests for the clean-up."""

    task, queue, again_s = TASK, QUEUE, ASKED_S

    def __init__(self) -> None:
        super().__init__()
        self.requested = time.monotonic()

    def due(self) -> list[int]:
        every_hour = time.monotonic() - self.requested > EVERY_S
        return [KEY] if every_hour or requested() or exclusive.abandoned(TASK) else []

    def refresh(self) -> list[int]:
        found = super().refresh()
        if found:
            self.requested = time.monotonic()
        return found


def requested() -> AuditEntry | None:
    """The newest request of an admin whose clean-up has not ended."""
    request = AuditEntry.objects.filter(action=REQUEST).order_by("-pk").first()
    if request is None or ended().filter(pk__gt=request.pk).exists():
        return None
    return request


def ended() -> QuerySet[AuditEntry]:
    """Entries of the clean-ups that admins have asked for and that have ended, newest first."""
    return AuditEntry.objects.filter(action=RUN).exclude(detail__has_key=UNFINISHED).order_by("-pk")


def work() -> None:
    """Clean-up, each part in a process of its own that ends at its time limit."""
    with exclusive.held(TASK, KEY) as mine:
        if mine is None:
            return
        outcome = _run(mine, remove, "retention")
        if outcome in bounded_process.FAILURES and (request := requested()) is not None:
            Entry(request).end(bounded_process.why(outcome, MAX_S))
        if outcome != "unwanted":
            _run(mine, packing.pack_ended, "the packing of logs")


def remove() -> None:
    """Removal of what is due, in this process."""
    request = requested()
    if request is None:
        retention.apply(retention.now())
        return
    entry = Entry(request)
    retention.apply(retention.now(), entry.add)
    entry.end()


class Entry:
    """Entry of the audit list about the clean-up that an admin has requested.

    It continues the unfinished entry of an interrupted clean-up, also of an earlier request.
    removed: {rule: number of objects}; error: why not all were removed.
    """

    def __init__(self, request: AuditEntry) -> None:
        begun = AuditEntry.objects.filter(action=RUN, detail__has_key=UNFINISHED).order_by("pk").first()
        blank = {"removed": {}, UNFINISHED: True}
        self.row = begun or AuditEntry(user=request.user, action=RUN, subject="retention", detail=blank)

    def add(self, rule: str, count: int) -> None:
        """Addition of the counts of one portion, within its transaction."""
        removed = self.row.detail["removed"]
        removed[rule] = removed.get(rule, 0) + count
        self.row.save()

    def end(self, error: str = "") -> None:
        """End of the clean-up, with the reason if it has not removed everything."""
        del self.row.detail[UNFINISHED]
        if error:
            self.row.detail["error"] = error
        self.row.save()


def _run(mine: exclusive.Held, part: Callable[[], object], name: str) -> Outcome:
    outcome = mine.run(part, limit_s=MAX_S)
    if outcome in bounded_process.FAILURES:
        log.error("%s did not end (%s); the next clean-up continues it", name, outcome)
    return outcome
