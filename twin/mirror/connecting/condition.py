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
SILENT_MS = 60_000  # a cluster that reports by itself and has not done so for longer is stale
FIRST_S = 60.0  # a first poll or post that takes longer is late


@dataclass(frozen=True, slots=True)
class Condition:
    """state: following | stale | failing | paused | starting. Times in Unix seconds; message: a sentence or empty.

    seen_at: of the newest data, the newest contact of a cluster that reports by itself
    event_ms: Unix ms of the newest event of such a cluster; None of one that is polled
    """

    state: str
    since: float | None
    message: str
    seen_at: float | None
    stale_after_ms: int
    event_ms: int | None


def condition(connection: Connection, now: float | None = None) -> Condition:
    """The condition at this moment, from what the follower wrote last."""
    now = time.time() if now is None else now
    health = connection.health
    polled_at, failing_since, contact_at = (health.get(key) for key in ("last_look_at", "failing_since", "contact_at"))
    late_ms = STALE_POLLS * interval_ms(connection) + HEALTH_MS

    def found(state: str, since: float | None, message: str = "") -> Condition:
        stale_after_ms = late_ms if contact_at is None else max(late_ms, SILENT_MS)
        return Condition(state, since, message, data_at(connection), stale_after_ms, health.get("event_ms"))

    if connection.wanted == Connection.PAUSED:
        return found(PAUSED, _paused_at(connection), "Following is paused; this time is recorded as a gap.")
    if failing_since is not None:
        return found(FAILING, failing_since, health.get("error", ""))
    resumed_at = health.get("resumed_at", 0.0)
    begun_at = max(connection.created_at.timestamp(), resumed_at)
    if polled_at is None:
        if now - begun_at <= FIRST_S:
            return found(STARTING, begun_at, "Waiting for the first poll by the follower.")
        message = "The follower has not polled yet; it may be down or overloaded."
        return found(STALE, begun_at, message)
    if polled_at < resumed_at and (now - resumed_at) * 1_000 <= late_ms:
        return found(STARTING, resumed_at, "Waiting for the next poll by the follower.")
    if (now - polled_at) * 1_000 > late_ms:
        message = "The follower has written nothing since then; it may be down or overloaded."
        return found(STALE, polled_at, message)
    if contact_at is None and _posts(connection):
        if now - begun_at <= FIRST_S:
            return found(STARTING, begun_at, "Waiting for the first post of the source.")
        message = "The source has posted nothing yet; check its name, its token and its sender."
        return found(STALE, begun_at, message)
    if contact_at is not None and (now - contact_at) * 1_000 > SILENT_MS:
        message = "The cluster has posted nothing since then, not even a heartbeat; its sender may be down."
        return found(STALE, contact_at, message)
    notes = (_sentence(health.get(name, "")) for name in ("note", "unfit"))
    return found(FOLLOWING, None, " ".join(filter(None, notes)))


def data_at(connection: Connection) -> float | None:
    """Time of the newest data, Unix s: the newest poll or, if that is older, the newest contact.

    None before a poll, and of a cluster that posts before its first post.
    """
    polled_at, contact_at = connection.health.get("last_look_at"), connection.health.get("contact_at")
    if contact_at is None:
        return None if _posts(connection) else polled_at
    return None if polled_at is None else min(polled_at, contact_at)


def _posts(connection: Connection) -> bool:
    """True if the cluster posts by itself."""
    try:
        return connector_class(connection.connector).posts
    except UnknownName:  # of a version that had this connector
        return False


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
