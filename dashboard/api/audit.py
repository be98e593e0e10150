"""Who changed what: the entries of the verbs that the API itself carries out (those of runs are control's)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from twin.models import AuditEntry


def record(user: Any, action: str, subject: Any) -> None:
    """One line of the audit list, e.g. record(user, "scenario.create", scenario)."""
    noun = action.partition(".")[0]
    AuditEntry.objects.create(user=user, action=action, subject=f"{noun} {subject.pk}", detail={"name": subject.name})


class AuditedDelete:
    """A view set's delete with its audit entry; `noun` is the entry's word."""

    noun: str
    request: Any

    def perform_destroy(self, instance: Any) -> None:
        with transaction.atomic():
            record(self.request.user, f"{self.noun}.delete", instance)
            instance.delete()
