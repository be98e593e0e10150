"""State of an import as pages and GET /healthz show it: its progress, and whether that has stopped."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from twin.models import Trace
from twin.runs.activity import STALLED_S, span


def import_state(trace: Trace) -> dict[str, Any]:
    """Status of an import, for its stream."""
    return {
        "id": trace.pk,
        "name": trace.name,
        "format": trace.format,
        "status": trace.status,
        "progress": trace.progress,
        "stalled": stalled(trace),
        "message": trace.message,
        "job_count": trace.job_count,
        "server_count": trace.server_count,
    }


def stalled(trace: Trace) -> str:
    """Text about an import that has made no progress for at least STALLED_S although its worker responds; else ""."""
    if trace.status != Trace.PARSING or trace.progressed_at is None:
        return ""
    seconds = (timezone.now() - trace.progressed_at).total_seconds()
    if seconds < STALLED_S:
        return ""
    return f"no progress for {span(seconds)}; cancel the import if this takes too long"
