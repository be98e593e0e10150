"""The drift audit of live clusters: once an hour each log is compared with a complete new poll of its cluster.

What changes while log and cluster are read, or after the last poll, looks like a difference. Only what a second
comparison finds again is reported; before it the cluster is polled at least once more.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.connectors.base import build, connector_class
from twin.connectors.facts import ENDED, ConnectorError, JobFact, NoAccounting
from twin.eventlog import event_log
from twin.mirror.drift import Difference, LoggedState, compare
from twin.models import Connection
from twin.moments import unix_ms
from twin.processes import bounded_process, exclusive
from twin.processes.requests import TaskRequests

log = logging.getLogger(__name__)
TASK, QUEUE = "audit_mirror", "io"
EVERY_S = 3_600.0
FIRST_S = 120.0  # after the beginning of a run
MIN_AGAIN_S = 20.0  # until the second comparison of what differed
POLL_S = 10.0  # time after which a poll that was due, and what it changes, are in the log
ASKED_S = 30.0  # a request that no worker accepted for this long is repeated
MAX_S = 120.0  # of one audit
MAX_SHOWN = 20  # differences that are kept; all are counted
SETTLED_MS = 10_000  # what the accounting says to have ended later than this ago may not have been seen yet


class Requests(TaskRequests):
    """Requests for audits of connections."""

    task, queue, again_s = TASK, QUEUE, ASKED_S

    def due(self) -> list[int]:
        now = time.time()
        return [connection.pk for connection in _followed() if due(connection, now)]


def due(connection: Connection, now: float) -> bool:
    """True if an audit of the mirror is due."""
    assert connection.run is not None
    drift = connection.drift
    if drift.get("run") != connection.run_id:
        return now - connection.run.created_at.timestamp() > FIRST_S
    return now > drift.get("next_at", 0.0)  # absent in what another version stored


def work(pk: int) -> None:
    """Audit of one connection, in a process of its own that ends at its time limit."""
    with exclusive.held(TASK, pk) as mine:
        before = _followed().filter(pk=pk).first()
        if mine is None or before is None or not due(before, time.time()):
            return
        outcome = mine.run(partial(audit, pk), limit_s=MAX_S, wanted=partial(_exists, pk))
        if outcome in bounded_process.FAILURES:
            connection = Connection.objects.get(pk=pk)
            if connection.drift == before.drift:
                _store(connection, EVERY_S, error=bounded_process.why(outcome, MAX_S))


def audit(pk: int) -> None:
    """Comparison of the log of the connection's run with a new complete poll, whose result is stored."""
    connection = Connection.objects.select_related("run").filter(pk=pk).first()
    if connection is None or connection.run is None:
        return
    try:
        comparison = _compare(connection)
    except (ConnectorError, ModelError, UnknownName) as error:
        _store(connection, EVERY_S, error=str(error))
    else:
        _settle(connection, comparison)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of one comparison.

    subjects         number of jobs and nodes that were compared
    accounted        whether the accounting of the cluster was read; it may keep none
    longest_poll_ms  the connector's longest time between two polls
    """

    subjects: int
    found: list[Difference]
    accounted: bool
    longest_poll_ms: int


def _compare(connection: Connection) -> Comparison:
    """Comparison of the log with the cluster, and with its accounting if it keeps one."""
    run = connection.run
    assert run is not None
    assert run.epoch_ms is not None
    connector = build(connection.connector, connection.parameters)
    try:
        snapshot = connector.snapshot()
        if not snapshot.complete:
            raise ConnectorError(snapshot.why or "the answer of the cluster is not complete")
        until_ms = snapshot.at_ms - SETTLED_MS
        since_ms = max(run.epoch_ms, until_ms - round(2 * EVERY_S * 1000))
        try:
            ended = [fact for fact in connector.history(since_ms, until_ms) if _ended_by(fact, until_ms)]
            accounted = True
        except NoAccounting:
            ended, accounted = [], False
    finally:
        connector.close()
    logged = LoggedState()
    for lines, bars in event_log.lines_and_bars(run.pk):
        logged.feed(lines, bars)
    subjects, found = compare(logged, snapshot, ended, run.epoch_ms, _first_ms(connection))
    return Comparison(subjects, found, accounted, connector.longest_poll_ms())


def _first_ms(connection: Connection) -> int:
    """The time after the first poll of the run, by the cluster's clock."""
    assert connection.run is not None
    offset_ms = connection.health.get("clock_offset_ms") or 0
    return unix_ms(connection.run.created_at) + offset_ms + SETTLED_MS


def _ended_by(fact: JobFact, until_ms: int) -> bool:
    return fact.state == ENDED and fact.ended_ms is not None and fact.ended_ms <= until_ms


def _settle(connection: Connection, comparison: Comparison) -> None:
    """Report of the differences that the comparison before has found too; new ones are compared again."""
    now = [asdict(difference) for difference in comparison.found]
    counts = {"compared": comparison.subjects, "accounted": comparison.accounted}
    drift = connection.drift
    repeated = drift.get("run") == connection.run_id and drift.get("suspected")
    confirmed = [difference for difference in now if difference in drift["suspected"]] if repeated else []
    if now and not repeated:
        again_s = max(MIN_AGAIN_S, comparison.longest_poll_ms / 1000 + POLL_S)
        _store(connection, again_s, suspected=now, **counts)
        return
    _store(connection, EVERY_S, count=len(confirmed), differences=confirmed[:MAX_SHOWN], **counts)
    if confirmed:
        log.error("connection %s: %d differences between log and cluster", connection.name, len(confirmed))


def _store(connection: Connection, next_s: float, **fields: Any) -> None:
    """Storage of a result; one that is not final keeps the counts of the audit before. The next is due in `next_s`."""
    blank: dict[str, Any] = {"compared": None, "count": None, "differences": [], "checked_at": None}
    same = connection.drift if connection.drift.get("run") == connection.run_id else {}
    now = time.time()
    drift = {
        **blank,
        **same,
        "suspected": [],
        "error": "",
        "run": connection.run_id,
        "at": now,
        "next_at": now + next_s,
        **fields,
    }
    if "count" in fields:
        drift["checked_at"] = drift["at"]
    Connection.objects.filter(pk=connection.pk).update(drift=drift)


def _followed() -> QuerySet[Connection]:
    """Connections whose mirror can be compared: they follow, and a second connector sees the same cluster."""
    cold = {name for name in Connection.objects.values_list("connector", flat=True) if _is_cold(name)}
    return Connection.objects.filter(wanted=Connection.FOLLOWING, connector__in=cold, run__isnull=False).select_related(
        "run"
    )


def _is_cold(name: str) -> bool:
    try:
        return connector_class(name).cold
    except UnknownName:
        return False


def _exists(pk: int) -> bool:
    return Connection.objects.filter(pk=pk, run__isnull=False).exists()
