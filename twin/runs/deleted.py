"""Deleted objects, read from the audit list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils.html import escape

from twin.models import AuditEntry, Run, Scenario, Sweep, Trace

# objects with a page, by the noun of their entries
MODELS: dict[str, Any] = {"run": Run, "scenario": Scenario, "sweep": Sweep, "trace": Trace}
# entries that name it
MADE = ("run.start", "scenario.create", "sweep.start", "trace.announce", "trace.upload", "trace.generate")
REMOVED = ("run.delete", "run.discard", "scenario.delete", "sweep.delete", "trace.delete")
DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Gone(NamedTuple):
    """Description of a deleted object: what it was, who deleted it and when; empty if the audit list has no entry."""

    subject: str  # e.g. run 5
    what: str
    by: str
    at: datetime | None
    team: int | None = None

    def __str__(self) -> str:
        named = f"{self.subject[0].upper()}{self.subject[1:]}" + (f" ({self.what})" if self.what else "")
        if self.at is None:
            return f"{named} was deleted."
        return f"{named} was deleted by {self.by or 'the system'} on {self.at:%Y-%m-%d at %H:%M} UTC."

    def __html__(self) -> str:
        """The same for a page, where a narrow screen does not break the date at its hyphens."""
        return DATE.sub(r'<span class="nowrap">\g<0></span>', escape(str(self)))


def missing(subjects: Iterable[str]) -> dict[str, Gone]:
    """{subject: what it was} of those, as `run 5`, that have a page of their own and exist no more."""
    asked: dict[str, set[int]] = {}
    for subject in subjects:
        noun, _, number = subject.partition(" ")
        if noun in MODELS and number.isdecimal():
            asked.setdefault(noun, set()).add(int(number))
    lost = {
        f"{noun} {number}"
        for noun, numbers in asked.items()
        for number in numbers.difference(MODELS[noun].objects.filter(pk__in=numbers).values_list("pk", flat=True))
    }
    return _from_audit(lost) if lost else {}


def what_was(noun: str, number: int, entries: QuerySet[AuditEntry] | None = None) -> Gone | None:
    """Deleted subject, from the audit list; None if it never existed, or still does, as for another team.

    entries: those that the reader may see.
    """
    if MODELS[noun].objects.filter(pk=number).exists():
        return None
    subject = f"{noun} {number}"
    entries = AuditEntry.objects.all() if entries is None else entries
    known = entries.filter(subject=subject, action__in=(*MADE, *REMOVED)).exists()
    return _from_audit({subject})[subject] if known else None


def _from_audit(subjects: set[str]) -> dict[str, Gone]:
    details: dict[str, dict[str, str]] = {subject: {} for subject in subjects}
    ends: dict[str, AuditEntry] = {}
    entries = AuditEntry.objects.filter(subject__in=subjects, action__in=(*MADE, *REMOVED)).select_related("user")
    for entry in entries.order_by("id"):
        details[entry.subject] |= entry.detail
        if entry.action in REMOVED:
            ends[entry.subject] = entry
    return {subject: _gone(subject, detail, ends.get(subject)) for subject, detail in details.items()}


def _gone(subject: str, detail: dict[str, str], end: AuditEntry | None) -> Gone:
    name = detail.get("name") or detail.get("scenario")
    what = ", ".join(part for part in (detail.get("scheduler"), f"“{name}”" if name else None) if part)
    if end is None:
        return Gone(subject, what, "", None)
    return Gone(subject, what, end.user.username if end.user else "", end.at, end.team_id)
