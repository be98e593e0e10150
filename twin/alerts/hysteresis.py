"""End of an open alert: not before its finding was absent for a while, so that it does not open and end repeatedly."""

from __future__ import annotations

from datetime import datetime


def settled(
    absent_at: datetime | None, present: bool | None, now: datetime, clear_s: float
) -> tuple[datetime | None, bool]:
    """(since when the finding is absent, whether the alert ends now).

    present: None where the rule could not be checked: that says nothing, so that the time begins again.
    """
    if present is None or present:
        return None, False
    absent_at = now if absent_at is None else absent_at
    return absent_at, (now - absent_at).total_seconds() >= clear_s
