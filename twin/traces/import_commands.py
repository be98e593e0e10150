"""Commands of operators on uploads: import, choose, cancel; each adds an audit entry."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from twin.infra.errors import Refused
from twin.models import Trace
from twin.runs.commands import audit
from twin.traces import import_task


def start_import(trace: Trace, user: Any = None) -> Trace:
    """Start of the scan or the import of a complete upload, by its stage."""
    _queue(trace, {"stage": trace.stage})
    audit(user, "trace.upload", f"trace {trace.pk}", {"name": trace.name})
    return trace


def choose(trace: Trace, stage: str, changes: dict[str, Any], user: Any = None) -> Trace:
    """Import of a scanned upload, or another scan with other options."""
    with transaction.atomic():
        standing = Trace.objects.select_for_update().only("status").get(pk=trace.pk)
        if standing.status != Trace.SCANNED:
            raise Refused(
                f"trace {trace.name} is {standing.status}; only an upload in the state scanned can be imported"
            )
        audit(user, f"trace.{stage}", f"trace {trace.pk}", changes.get("options", {}))
        return _queue(trace, {**changes, "stage": stage})


def _queue(trace: Trace, changes: dict[str, Any]) -> Trace:
    Trace.objects.filter(pk=trace.pk).update(
        **changes, status=Trace.QUEUED, progress=0, message="", touched_at=timezone.now()
    )
    transaction.on_commit(lambda: import_task.enqueue(trace.pk))
    trace.refresh_from_db()
    import_task.publish(trace)
    return trace


def cancel_import(trace: Trace, user: Any = None) -> Trace:
    """Cancellation of an import; nothing of it stays."""
    changed = Trace.objects.filter(pk=trace.pk, status__in=(*Trace.BUSY, Trace.SCANNED)).update(
        status=Trace.CANCELLED, message="cancelled"
    )
    if not changed:
        trace.refresh_from_db()
        raise Refused(
            f"trace {trace.name} is {trace.status}; only an import that is in progress or waits for a choice can be "
            "cancelled"
        )
    audit(user, "trace.cancel", f"trace {trace.pk}", {})
    trace.refresh_from_db()
    import_task.drop_upload(trace)
    import_task.publish(trace)
    return trace
