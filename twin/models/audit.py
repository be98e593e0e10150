"""The audit: who did what."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models

from twin.models.teams import Owned, Team, home_of

# how the team of a subject, as in `run 5`, is found: model, field of its number or name, path to the team
TEAMS = {
    "run": ("Run", "pk", "scenario__team"),
    "scenario": ("Scenario", "pk", "team"),
    "trace": ("Trace", "pk", "team"),
    "cluster": ("ClusterSpec", "pk", "team"),
    "sweep": ("Sweep", "pk", "team"),
    "connection": ("Connection", "name", "team"),
    "plan": ("Proposal", "pk", "connection__team"),
    "alert": ("Alert", "pk", "team"),
    "rule": ("AlertRule", "pk", "team"),
}


class AuditEntry(Owned):
    """Entry of the audit list: user, action, subject and time."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    action = models.CharField(max_length=60)  # run.start, run.pause, trace.upload, ...
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    # team of the subject when a member of it made the entry, where the subject was moved since
    kept_by = models.ForeignKey(Team, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["action"], name="audit_entry_by_action"),
            models.Index(fields=["subject"], name="audit_entry_by_subject"),
        ]

    def save(self, *args: Any, **given: Any) -> None:
        """Storage of the entry with the team of its subject; where a token acted for the user, with its name."""
        if token := getattr(self.user, "through_token", None):
            self.detail = {**self.detail, "token": token}
        if self._state.adding and not self.settled:
            self.settle(self._team_of_subject())
        super().save(*args, **given)

    def _team_of_subject(self) -> int | None:
        """The team of the subject; of one that is gone, that of its last entry; of any other, that of the user."""
        noun, _, key = self.subject.partition(" ")
        if noun in TEAMS and " " not in key:
            model, field, team = TEAMS[noun]
            if field == "name" or key.isdecimal():
                found = apps.get_model("twin", model).objects.filter(**{field: key}).values_list(team, flat=True)[:1]
                earlier = AuditEntry.objects.filter(subject=self.subject).values_list("team", flat=True)[:1]
                for teams in (found, earlier):
                    for one in teams:
                        return one
        return home_of(self.user)
