"""Replays of a live cluster by the model of its own policy: the newest one, its progress, and those before it."""

from __future__ import annotations

from typing import Any

from twin.models import Connection, Shadow, ShadowSet

METRICS = (
    "jobs", "makespan_real_ms", "makespan_ms", "makespan_error", "wait_real_ms", "wait_ms", "within", "order",
    "within_ms", "first",
)  # fmt: skip


def payload(connection: Connection) -> dict[str, Any]:
    """{newest: metrics or None, progress: status of the one under way or None, failed: reason or None, before}."""
    own = connection.shadow_sets.filter(purpose=ShadowSet.REPLAY).defer("history")
    done = [of for of in own.filter(status=ShadowSet.FINISHED) if "replay" in of.facts]
    active, last = own.filter(status__in=ShadowSet.ACTIVE).first(), own.first()
    rows = [_plain(of) for of in done]
    return {
        "newest": rows[0] if rows else None,
        "progress": None if active is None else {"set": active.pk, "status": active.status, "cut": bool(active.facts)},
        "failed": _failure(last),
        "before": rows[1:],
    }


def _failure(of: ShadowSet | None) -> str | None:
    """Reason why the newest replay has no metrics; None if it has, or is under way."""
    if of is None or of.status not in (ShadowSet.FAILED, ShadowSet.FINISHED) or "replay" in of.facts:
        return None
    shadow = of.shadows.filter(status=Shadow.FAILED).first()
    return of.message or (shadow.message if shadow is not None else "") or "its run did not finish"


def _plain(of: ShadowSet) -> dict[str, Any]:
    shadow = of.shadows.first()
    metrics = of.facts["replay"]
    return {key: metrics[key] for key in METRICS} | {
        "in_step": metrics.get("in_step"), "model": shadow.scheduler if shadow is not None else None,
        "set": of.pk, "at": of.created_at, "from_ms": of.from_ms, "until_ms": of.until_ms, "run": of.run_id,
        "began_at": None if of.run is None else of.run.began_at,
        "replay": shadow.run_id if shadow is not None else None, "slot_ms": of.facts["slot_ms"],
        "sentences": of.facts["sentences"],
    }  # fmt: skip
