"""Condition of a live cluster: whether its data are fresh, since when they are not, and why."""

from __future__ import annotations

import time
from dataclasses import dataclass

from scheduling.kernel.parameters import UnknownName
from twin.connectors.base import connector_class
from twin.models import AuditEntry, Connection, Run

CONDITIONS = FOLLOWING, STALE, FAILING, PAUSED, STARTING = "following", "stale", "failing", "paused", "starting"
ALIVE_MS = 5_000  # connectors with a stream give a sign of life at least this often
STALE_POLLS = 3  # data that are older than this number of intervals are stale
HEALTH_MS = 2_000  # between two writes of the health
FIRST_S = 60.0  # a first poll that takes longer is late


@dataclass(frozen=True, slots=True)
class Condition:
    """state: following | stale | failing | paused | starting. Times in Unix seconds; message: a sentence or empty."""

    state: str
    since: float | None
    message: str
    seen_at: float | None
    stale_after_ms: int


def condition(connection: Connection, now: float | None = None) -> Condition:
    """The condition at this moment, from what the follower wrote last."""
    now = time.time() if now is None else now
    health = connection.health
    seen_at, failing_since = health.get("last_look_at"), health.get("failing_since")
    stale_after_ms = STALE_POLLS * interval_ms(connection) + HEALTH_MS

    def found(state: str, since: float | None, message: str = "") -> Condition:
        return Condition(state, since, message, seen_at, stale_after_ms)

    if connection.wanted == Connection.PAUSED:
        return found(PAUSED, _paused_at(connection), "Following is paused; this time is recorded as a gap.")
    if failing_since is not None:
        return found(FAILING, failing_since, health.get("error", ""))
    resumed_at = health.get("resumed_at", 0.0)
    if seen_at is None:
        begun_at = max(connection.created_at.timestamp(), resumed_at)
        if now - begun_at <= FIRST_S:
            return found(STARTING, begun_at, "Waiting for the first poll by the follower.")
        message = "The follower has not polled yet; it may be down or overloaded."
        return found(STALE, begun_at, message)
    if seen_at < resumed_at and (now - resumed_at) * 1_000 <= stale_after_ms:
        return found(STARTING, resumed_at, "Waiting for the next poll by the follower.")
    if (now - seen_at) * 1_000 > stale_after_ms:
        message = "The follower has written nothing since then; it may be down or overloaded."
        return found(STALE, seen_at, message)
    return found(FOLLOWING, None, _sentence(health.get("note", "")))


def condition_of(run: Run) -> Condition | None:
    """The condition of the cluster that a run mirrors now; None for other runs."""
    connection = None if run.mode_rules.simulated else Connection.objects.filter(run=run).first()
    return None if connection is None else condition(connection)


def interval_ms(connection: Connection) -> int:
    """The longest time between two signs of life while all is well."""
    try:
        declared = getattr(connector_class(connection.connector).Parameters(), "interval_ms", 0)
    except UnknownName:  # of a version that had this connector
        declared = 0
    own = connection.parameters.get("interval_ms", declared) or 0
    return max(ALIVE_MS, int(own), connection.interval_ms)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _paused_at(connection: Connection) -> float | None:
    entries = AuditEntry.objects.filter(action="connection.pause", subject=f"connection {connection.name}")
    at = entries.order_by("-id").values_list("at", flat=True).first()
    return None if at is None else at.timestamp()
