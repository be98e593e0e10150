"""Push: the cluster posts events about itself to /api/ingest/<source>/events (docs/push.md), read from the database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings

from scheduling.kernel.parameters import Parameters as Base
from scheduling.kernel.parameters import parameter
from scheduling.reporting.quantities import counted, duration
from twin.connectors.base import Connector
from twin.connectors.facts import ConnectorError, Contact, Finding, Found, JobFact, Snapshot
from twin.infra import pubsub
from twin.models import PushedEvent, PushSource
from twin.push import fold, storage
from twin.push.events import NODE
from twin.push.mirror import Mirror

POLL_S, BUS_S = 0.2, 1.0  # between two reads of the database: without a frame bus, and with one
ALIVE_S = 5.0  # between two snapshots without a change
FORGET_S = 600.0
MAX_DELAYS = 1_000  # events whose delay the test of a connection reads


class PushConnector(Connector):
    """Facts of the events that a source has posted."""

    name = "push"
    title = "Push"
    summary = "The cluster, or a script beside it, posts its events to this server with a token."
    posts = True

    @dataclass(frozen=True, slots=True)
    class Parameters(Base):
        source: str = parameter(
            "", "Name of the source, the part of the address between /api/ingest/ and /events", title="Source"
        )

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        self.source = storage.check_source(self.parameters.source)
        self.mirror: Mirror | None = None

    def check(self) -> Found:
        """Findings: whether events have arrived, the time of the newest, and the jobs and nodes."""
        row = PushSource.objects.filter(name=self.source).first()
        if row is None or not row.last_seq:
            remedy = (
                f"Create a token with `manage.py token create --name {self.source} --scope ingest:{self.source}`, if "
                "none exists, and post an event as docs/push.md shows."
            )
            return Found(
                findings=(Finding("events", False, f"the source {self.source} has posted no event yet", remedy),)
            )
        snapshot = self.snapshot()
        newest = list(
            PushedEvent.objects.filter(source=row).order_by("-seq").values_list("received_ms", "at_ms")[:MAX_DELAYS]
        )
        delays = sorted(came_ms - at_ms for came_ms, at_ms in newest)
        held_back = sum(
            not fold.jobs("", events.values()) for key, events in self._mirror().events.items() if key[0] != NODE
        )
        findings = [
            Finding(
                "events", True,
                f"{counted(row.last_seq, 'event')}; "
                f"median delay of the newest {len(delays):,}: {duration(delays[len(delays) // 2])}",
            ),
            Finding(
                "nodes", bool(snapshot.nodes), counted(len(snapshot.nodes or ()), 'node'),
                "" if snapshot.nodes else "post node.changed for each node",
            ),
            Finding("jobs", True, f"{counted(len(snapshot.jobs), 'job')}, open or ended in the last hour"),
        ]  # fmt: skip
        if held_back:
            remedy = "post job.submitted for them, or state submitted_ms in their events"
            findings.append(
                Finding(
                    "submissions",
                    False,
                    f"{counted(held_back, 'job')} not shown: no event gives the time of submission",
                    remedy,
                    needed=False,
                )
            )
        return Found(version="CloudEvents 1.0", findings=tuple(findings))

    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        """All open jobs, those that ended within the hour, and the nodes."""
        row = PushSource.objects.filter(name=self.source).first()
        now_ms = _now_ms()
        if row is None:
            return Snapshot(now_ms, nodes=() if nodes else None)
        self.mirror = Mirror(row, now_ms)
        return self._look(nodes)

    def changes(self) -> Iterator[Snapshot]:
        """Partial snapshots, one for each group of new events; a whole one after the end of a posted snapshot."""
        reported_at = forgot_at = time.monotonic()
        with _Bell(self.source) as bell:
            while True:
                snapshot = self._advance()
                if snapshot is None:
                    if time.monotonic() - reported_at < ALIVE_S:
                        bell.wait()
                        continue
                    snapshot = Snapshot(self._at_ms(), partial=True)
                reported_at = time.monotonic()
                yield snapshot
                if self.mirror is not None and time.monotonic() - forgot_at > FORGET_S:
                    forgot_at = time.monotonic()
                    self.mirror.forget_ended(_now_ms())

    def history(self, since_ms: int, until_ms: int) -> Iterator[JobFact]:
        """Jobs that ended in the interval, of the events that are kept."""
        row = PushSource.objects.filter(name=self.source).first()
        if row is None:
            return
        snapshots = storage.snapshot_times(row.pk)["jobs"]
        for keys in storage.ended_between(row.pk, since_ms, until_ms):
            for key, events in storage.of_keys(row.pk, keys).items():
                for job in fold.jobs(key[1:], events, snapshots):
                    if job.ended_ms is not None and since_ms <= job.ended_ms < until_ms:
                        yield job

    def contact(self) -> Contact | None:
        """Newest post of the source, and the time of its newest event."""
        newest = PushSource.objects.filter(name=self.source).values_list("contact_ms", "event_ms").first()
        return None if newest is None else Contact(*newest)

    def _advance(self) -> Snapshot | None:
        """A partial snapshot of what is new; None where nothing is."""
        if self.mirror is None:
            if not storage.cursor(self.source):
                return None
            return self.snapshot()
        now_ms = _now_ms()
        keys, complete = self.mirror.advance(now_ms)
        if complete:
            return self._look(nodes=True)
        if not keys:
            return None
        # all: a node that is not among them is gone
        changed = any(key[0] == NODE for key in keys) or not self.mirror.settled
        nodes = tuple(self.mirror.nodes()) if changed else None
        return Snapshot(self._at_ms(), tuple(self.mirror.jobs(keys)), nodes, partial=True)

    def _look(self, nodes: bool) -> Snapshot:
        mirror = self._mirror()
        return Snapshot(self._at_ms(), tuple(mirror.jobs(mirror.events)), tuple(mirror.nodes()) if nodes else None)

    def _at_ms(self) -> int:
        """The clock of the source, as far as its events show it: a snapshot is never older than what it shows."""
        return max(_now_ms(), self.mirror.newest_ms if self.mirror else 0)

    def _mirror(self) -> Mirror:
        if self.mirror is None:
            raise ConnectorError(f"the source {self.source} has not been read yet; take a snapshot first")
        return self.mirror


class _Bell:
    """The frame bus as a hint that rows have come; without it, a short wait."""

    def __init__(self, source: str) -> None:
        self.channel = storage.channel(source)
        self.heard: Any = None

    def __enter__(self) -> _Bell:
        if settings.LAYER_URL:
            try:
                self.heard = pubsub.client().pubsub(ignore_subscribe_messages=True)
                self.heard.subscribe(self.channel)
            except (redis.RedisError, OSError):
                self.heard = None
        return self

    def __exit__(self, *error: object) -> None:
        if self.heard is not None:
            self.heard.close()

    def wait(self) -> None:
        if self.heard is None:
            time.sleep(POLL_S)
            return
        try:
            self.heard.get_message(timeout=BUS_S)
        except (redis.RedisError, OSError):
            time.sleep(POLL_S)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
