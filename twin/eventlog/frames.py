"""Status of runs and imports as the JSON messages that browsers receive (docs/formats.md)."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from twin.models import Run
from twin.moments import unix_ms
from twin.processes import vitals
from twin.processes.vitals import Vitals
from twin.runs.activity import activity


def status(run: Run, known: Vitals | None = None) -> dict[str, Any]:
    """State of the run for tiles, toolbars and badges. known: the vitals of the twin, if they are known already."""
    active = run.status in Run.ACTIVE
    return {
        "type": "status",
        "id": run.pk,
        "parent": run.parent_id,
        "status": run.status,
        "wanted": run.wanted,
        "message": run.message,
        "mode": run.mode,
        "last_seq": run.last_seq,
        "sim_ms": run.sim_ms,
        "end_ms": run.end_ms,
        "next_event_ms": run.next_event_ms,
        "clock": {
            "sim_ms": run.clock_sim_ms,
            "wall_ms": unix_ms(run.clock_wall) if run.clock_wall else None,
            "speed": run.clock_speed,
        },
        "server_wall_ms": unix_ms(timezone.now()),
        "activity": activity(run, known or vitals.take()) if active else None,
        "metrics": run.metrics,
        "decision_ms": run.decision_ms,
        "certificate": run.certificate,
        "certifying": certifying(run),
        "certificate_queued": certificate_queued(run),
    }


def certifying(run: Run) -> bool:
    """True if a certificate of the run is being computed; an expired lease was left by a killed process."""
    return run.certify_began is not None and run.certify_until is not None and run.certify_until > timezone.now()


def certificate_queued(run: Run) -> bool:
    """True if the certificate of an ended run waits for its turn."""
    waits = run.status not in Run.ACTIVE and run.mode_rules.certified and run.last_seq > run.certified_seq
    return waits and not certifying(run)
