"""The border between two runs of a live cluster: one ends after a day or many events, the next has what is open.

One transaction closes the run and begins the next, so a follower that was killed at the border finds either the old
run, and closes it again, or the new one. Nothing is in neither, and nothing that has ended is in both.

A run also ends when its connection is removed. What is open then is unfinished. A worker computes the metrics of an
ended run (twin/analysis/closing_metrics.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from scheduling.kernel.plan_scopes import OF_HISTORY
from scheduling.model.bars import NONE
from twin.connectors.facts import JobFact, Snapshot
from twin.eventlog import frames
from twin.infra import pubsub
from twin.mirror import stored
from twin.mirror.as_values import EventData, bars_of
from twin.mirror.differ import Mirror
from twin.mirror.jobs.known import KnownJob
from twin.models import Connection, EventBatch, Run
from twin.moments import moment_utc, unix_ms

MAX_MS = 86_400_000  # of the cluster's time from the first poll on
MAX_EVENTS = settings.MIRROR_EVENTS  # after those of the first poll
MAX_LATE_MS = 60_000  # that a run goes on for attempts whose ends the accounting will state in some seconds
MAX_HISTORY = 60  # earlier runs that a page lists
Why = tuple[str, Mapping[str, Any]]  # code of scheduling/observed/reasons.py, values


class Border:
    """Limit of the run of a mirror."""

    def __init__(self, run: Run, mirror: Mirror) -> None:
        self.run, self.mirror = run, mirror
        self.first: tuple[int, int] | None = None  # (ms of the log, seq of the last event) of the first poll
        self.due_ms: int | None = None  # ms of the log at which the next run became due

    def reached(self, unconfirmed: bool = False) -> bool:
        """True if the next run is due; it waits for some seconds while ends of this one are not confirmed."""
        if not self._is_due():
            return False
        if self.due_ms is None:
            self.due_ms = self.mirror.log_ms
        return not unconfirmed or self.mirror.log_ms - self.due_ms >= MAX_LATE_MS

    def _is_due(self) -> bool:
        if self.first is None:
            self.first = _first_poll(self.run)
        if self.first is None:
            return False
        first_ms, first_seq = self.first
        return self.mirror.log_ms - first_ms >= MAX_MS or self.run.last_seq - first_seq >= MAX_EVENTS


def _first_poll(run: Run) -> tuple[int, int] | None:
    """(ms of the log, seq of the last event) of the first poll, which may have several batches; None before it."""
    batches = EventBatch.objects.filter(run=run).order_by("first_seq")
    first_ms = next(iter(batches.values_list("first_ms", flat=True)[1:2]), None)  # after the event that begins the run
    if first_ms is None:
        return None
    return first_ms, batches.filter(first_ms=first_ms).aggregate(last=Max("last_seq"))["last"]


def cross(connection: Connection, run: Run, mirror: Mirror, fresh_jobs: Sequence[JobFact] = ()) -> Run:
    """Next run with the open jobs, after the end of this one, which is under our lease; LeaseLost changes nothing.

    The mirror of the run is empty then. fresh_jobs: jobs of a cluster that has begun again with an empty state, which
    belong to the next run.
    """
    snapshot = _as_seen(mirror)
    snapshot = replace(snapshot, jobs=(*snapshot.jobs, *fresh_jobs))
    restarted = f"{connection.name} restarted with an empty state and numbers its jobs from 1 again."
    message = restarted if fresh_jobs else ""
    with transaction.atomic():
        made, fresh = stored.begin(connection, snapshot)
        Run.objects.filter(pk=made.pk).update(follows=run)
        fresh.called = {known.fact.key: known.name for known in _open(mirror)}
        _close(run, mirror, lambda _: ("continues", {"run": made.pk}), message)
        mirror.jobs, mirror.newest, mirror.names, mirror.open = [], {}, set(), set()  # the next run needs the memory
        stored.Writer(made, fresh)(fresh.apply(snapshot), fresh.log_ms)
    run.refresh_from_db()
    pubsub.announce(run, frames.status(run))
    made.refresh_from_db()
    return made


class Ending:
    """The end of a run whose connection is removed: computed without a lock, then written in one transaction."""

    def __init__(self, connection: Connection, run: Run) -> None:
        """run: under a lease of ours."""
        self.run, self.mirror = run, stored.load(connection)
        seen_ms = connection.health.get("seen_ms") or 0
        self.mirror.log_ms = max(self.mirror.log_ms, seen_ms - self.mirror.epoch_ms)
        self.message = (
            f"Following ended at {moment_utc(unix_ms(timezone.now()))}, when the connection {connection.name} was "
            "removed; jobs that were open then are unfinished."
        )

    def write(self) -> None:
        """End of the run; LeaseLost changes nothing."""

        def why(known: KnownJob) -> Why:
            return "still_open", {"attempts": len(known.attempts)}

        _close(self.run, self.mirror, why, self.message)


def history(run: Run) -> dict[str, Any]:
    """{earlier: runs of the cluster before this one, newest first; next: the run that goes on, or None}."""
    earlier: list[Run] = []
    before = run.follows
    while before is not None and len(earlier) < MAX_HISTORY:
        earlier.append(before)
        before = before.follows
    return {"earlier": earlier, "next": run.followed_by.first()}


def _close(run: Run, mirror: Mirror, why: Callable[[KnownJob], Why], message: str = "") -> None:
    """End of the run; why: the reason for each open job."""
    events: list[EventData] = []
    for known in _open(mirror):
        events += _cut_bars(known, mirror)
        code, values = why(known)
        events.append(("decided", {"job": known.index, "kind": "unfinished", "code": code, "values": values}))
    stored.Writer(run, mirror)([*events, ("run_finished", {})], mirror.log_ms)
    Run.objects.filter(pk=run.pk, epoch=run.epoch).update(
        status=Run.FINISHED, finished_at=timezone.now(), end_ms=mirror.log_ms, message=message,
        lease_until=None, lease_owner="",
    )  # fmt: skip


def _cut_bars(known: KnownJob, mirror: Mirror) -> list[EventData]:
    """The bars of a job that runs end with the run; the next run records what follows."""
    indices = {name: node.index for name, node in mirror.nodes.items()}
    bars = bars_of(known.index, known.fact, known.attempts, indices, mirror.epoch_ms)
    if all(bar.end_ms <= mirror.log_ms for bar in bars):
        return []
    cut = [bar._replace(end_ms=min(bar.end_ms, mirror.log_ms)) for bar in bars if bar.start_ms < mirror.log_ms]
    start_ms = min((bar.start_ms for bar in cut), default=NONE)
    rows = [[known.index, start_ms, NONE]]
    return [("plan_changed", {"scope": OF_HISTORY.name, "keys": [known.index], "jobs": rows, "bars": cut})]


def _as_seen(mirror: Mirror) -> Snapshot:
    """Open jobs, all nodes and reservations, in the form of a poll of the cluster with every earlier attempt."""
    jobs = tuple(
        known.fact if known.fact.attempts == known.attempts else replace(known.fact, attempts=known.attempts)
        for known in _open(mirror)
    )
    nodes = tuple(node.fact for node in sorted(mirror.nodes.values(), key=lambda node: node.index))
    return Snapshot(mirror.at_ms, jobs, nodes, tuple(mirror.reservations.open))


def _open(mirror: Mirror) -> Sequence[KnownJob]:
    return [mirror.jobs[index] for index in sorted(mirror.open)]
