"""The audit: who did what."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """Entry of the audit list: user, action, subject and time."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    action = models.CharField(max_length=60)  # run.start, run.pause, trace.upload, ...
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]

    def save(self, *args: Any, **given: Any) -> None:
        """Stores the entry; where a token acted for the user, with its name."""
        if token := getattr(self.user, "through_token", None):
            self.detail = {**self.detail, "token": token}
        super().save(*args, **given)
