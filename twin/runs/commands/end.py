"""End of runs before their time: cancelled by an operator, or by the twin itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from twin.models import Run
from twin.runs.commands.allowed import active, simulated
from twin.runs.commands.announce import announce_all
from twin.runs.commands.audit import audit

_CANCELLED: dict[str, Any] = {
    "status": Run.CANCELLED, "wanted": Run.CANCELLED, "message": "", "next_event_ms": None, "lease_until": None,
    "lease_owner": "", "held_since": None,
}  # fmt: skip


def cancel(run: Run, user: Any = None) -> Run:
    """Permanent end of the run, at once, whatever its worker does; its log stays."""
    simulated(run, "cancel")
    active(run, "cancel")
    if not cancel_all([run], user):
        active(run, "cancel")  # it has ended since it was read
    run.refresh_from_db()
    return run


def cancel_all(runs: Sequence[Run], user: Any = None) -> int:
    """Cancellation of the active ones among them, all at once; their number. Having ended meanwhile is no error."""
    with transaction.atomic():
        active = (
            Run.objects.select_for_update(of=("self",)).select_related("scenario__trace").filter(status__in=Run.ACTIVE)
        )
        going = list(active.filter(pk__in=[run.pk for run in runs]))
        # A new epoch takes the run from its worker: its next write is refused, its process freed (lease.Heartbeat).
        Run.objects.filter(pk__in=[run.pk for run in going]).update(
            **_CANCELLED, finished_at=timezone.now(), end_ms=F("sim_ms"), epoch=F("epoch") + 1
        )
        for run in going:
            audit(user, "run.cancel", f"run {run.pk}", {})
        transaction.on_commit(lambda: announce_all(going))
    return len(going)


def end_quietly(run_ids: Sequence[int]) -> None:
    """Cancellation of those that are active, without entries: runs that the twin itself began."""
    Run.objects.filter(pk__in=run_ids, status__in=Run.ACTIVE).update(
        **_CANCELLED, finished_at=timezone.now(), end_ms=F("sim_ms"), epoch=F("epoch") + 1
    )
