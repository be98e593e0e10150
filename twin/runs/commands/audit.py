"""Audit list: the entry that each command of an operator adds."""

from __future__ import annotations

from typing import Any

from twin.models import AuditEntry


def audit(user: Any, action: str, subject: str, detail: dict[str, Any]) -> None:
    """Entry of the audit list."""
    known = user if user is not None and getattr(user, "pk", None) else None
    AuditEntry.objects.create(user=known, action=action, subject=subject, detail=detail)
