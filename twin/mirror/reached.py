"""Newest moment of a mirrored run that is known: that of its last poll, which may have found nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twin.models import Connection, Run


def reached_ms(run: Run, health: Mapping[str, Any] | None = None) -> int:
    """Newest moment in ms of the run's log. health: of its connection, which is read if it is None."""
    if health is None:
        connection = Connection.objects.filter(run=run).only("health").first()
        health = {} if connection is None or run.status not in Run.ACTIVE else connection.health
    seen_ms = health.get("seen_ms")
    if seen_ms is None or run.epoch_ms is None:
        return run.sim_ms
    return max(run.sim_ms, seen_ms - run.epoch_ms)
