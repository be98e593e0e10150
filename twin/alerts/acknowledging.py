"""Acknowledgement of an open alert: somebody takes care of it, so that it is no longer counted."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from twin.alerts.base import sentence
from twin.infra.errors import Refused
from twin.models import Alert, AuditEntry


def acknowledge(alert: Alert, user: Any) -> Alert:
    """Acknowledgement by the user; an alert that was acknowledged before keeps its first name."""
    with transaction.atomic():
        now = timezone.now()
        waiting = Alert.objects.filter(pk=alert.pk, ended_at=None, acknowledged_at=None)
        if waiting.update(acknowledged_by=user, acknowledged_at=now):
            detail = {"name": sentence(alert.rule, alert.code, alert.values), "target": alert.target}
            subject = f"alert {alert.pk}"
            AuditEntry.objects.create(user=user, action="alert.acknowledge", subject=subject, detail=detail)
    alert.refresh_from_db()
    if alert.acknowledged_at is None:
        raise Refused(f"alert {alert.pk} has ended; only open alerts can be acknowledged")
    return alert
