"""Entries of the audit list about a moved object: they move with it; the old team keeps what its members did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.db.models import F, QuerySet

from twin.models import AuditEntry, Connection, Membership, Proposal, Run, Scenario, Team
from twin.models.audit import TEAMS

NOUNS = {apps.get_model("twin", model): (noun, field) for noun, (model, field, _) in TEAMS.items()}
MAX_SUBJECTS = 500  # of one statement


def move(rows: Iterable[QuerySet[Any]], team: Team | None) -> None:
    """Move of the entries about these objects, and about the runs and plans that belong to them, to the team."""
    subjects = sorted(set(_subjects(rows)))
    for first in range(0, len(subjects), MAX_SUBJECTS):
        entries = AuditEntry.objects.filter(subject__in=subjects[first : first + MAX_SUBJECTS]).exclude(team=team)
        for old in list(entries.order_by().values_list("team", flat=True).distinct()):
            members = Membership.objects.filter(team=old).values("user")
            entries.filter(team=old, kept_by=None, user__in=members).update(kept_by=F("team"))
        entries.update(team=team)


def _subjects(rows: Iterable[QuerySet[Any]]) -> Iterable[str]:
    for found in rows:
        noun, field = NOUNS[found.model]
        yield from (f"{noun} {key}" for key in found.values_list(field, flat=True))
        numbers = list(found.values_list("pk", flat=True))
        if found.model is Connection:
            yield from _subjects([Proposal.objects.filter(connection__in=numbers)])
        if found.model is Scenario:
            yield from _subjects([Run.objects.filter(scenario__in=numbers)])
