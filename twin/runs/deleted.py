"""Deleted objects, read from the audit list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils.html import escape

from scheduling.kernel.registry import schedulers
from twin.models import AuditEntry, Connection, Proposal, Run, Scenario, Sweep, Trace

# objects with a page, by the noun of their entries: model, and field of the number or name
OBJECTS: dict[str, tuple[Any, str]] = {
    "run": (Run, "pk"), "scenario": (Scenario, "pk"), "sweep": (Sweep, "pk"), "trace": (Trace, "pk"),
    "connection": (Connection, "name"), "plan": (Proposal, "pk"),
}  # fmt: skip
# entries that name it
MADE = (
    "run.start", "scenario.create", "sweep.start", "trace.announce", "trace.upload", "trace.generate",
    "connection.create", "plan.propose",
)  # fmt: skip
REMOVED = ("run.delete", "run.discard", "scenario.delete", "sweep.delete", "trace.delete", "connection.delete")
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
    asked: dict[str, set[int | str]] = {}
    for subject in subjects:
        noun, _, text = subject.partition(" ")
        if (key := _key(noun, text)) is not None:
            asked.setdefault(noun, set()).add(key)
    lost = {f"{noun} {key}" for noun, keys in asked.items() for key in keys - _existing(noun, keys)}
    return _from_audit(lost) if lost else {}


def what_was(noun: str, number: int | str, entries: QuerySet[AuditEntry] | None = None) -> Gone | None:
    """Deleted subject, from the audit list; None if it never existed, or still does, as for another team.

    number: or the name, for objects that have one. entries: those that the reader may see.
    """
    key = _key(noun, str(number))
    if key is None:
        return None
    model, field = OBJECTS[noun]
    if model.objects.filter(**{field: key}).exists():
        return None
    subject = f"{noun} {key}"
    entries = AuditEntry.objects.all() if entries is None else entries
    known = entries.filter(subject=subject, action__in=(*MADE, *REMOVED)).exists()
    return _from_audit({subject})[subject] if known else None


def _key(noun: str, text: str) -> int | str | None:
    """Number or name in this text; None if no object with a page can have it."""
    if noun not in OBJECTS:
        return None
    _, field = OBJECTS[noun]
    if field == "name":
        return None if " " in text else text
    return int(text) if text.isdecimal() else None


def _existing(noun: str, keys: set[int | str]) -> set[int | str]:
    model, field = OBJECTS[noun]
    return set(model.objects.filter(**{f"{field}__in": keys}).values_list(field, flat=True))


def _from_audit(subjects: set[str]) -> dict[str, Gone]:
    details: dict[str, dict[str, str]] = {subject: {} for subject in subjects}
    made: dict[str, AuditEntry] = {}
    ends: dict[str, AuditEntry] = {}
    entries = AuditEntry.objects.filter(subject__in=subjects, action__in=(*MADE, *REMOVED)).select_related("user")
    for entry in entries.order_by("id"):
        details[entry.subject] |= entry.detail
        if entry.action in REMOVED:
            ends[entry.subject] = entry
        else:
            made[entry.subject] = entry
    ends |= _with_their_connections({of: entry for of, entry in made.items() if entry.action == "plan.propose"})
    return {subject: _gone(subject, detail, ends.get(subject)) for subject, detail in details.items()}


def _with_their_connections(plans: dict[str, AuditEntry]) -> dict[str, AuditEntry]:
    """{plan: entry of the removal of its connection, with which it was deleted}; plans: the entries of their making."""
    clusters = {of: f"connection {entry.detail.get('name')}" for of, entry in plans.items()}
    removals = AuditEntry.objects.filter(subject__in=set(clusters.values()), action="connection.delete")
    return {
        of: removal
        # newest first, so that the first removal after the plan is kept
        for removal in removals.select_related("user").order_by("-id")
        for of, entry in plans.items()
        if removal.subject == clusters[of] and removal.pk > entry.pk
    }


def _gone(subject: str, detail: dict[str, str], end: AuditEntry | None) -> Gone:
    name = detail.get("name") or detail.get("scenario")
    named = f"“{name}”" if name and subject != f"connection {name}" else None
    scheduler = detail.get("scheduler", "")
    title = found.title if (found := schedulers().get(scheduler)) else scheduler
    what = ", ".join(part for part in (title, named) if part)
    if end is None:
        return Gone(subject, what, "", None)
    return Gone(subject, what, end.user.username if end.user else "", end.at, end.team_id)
