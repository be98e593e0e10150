"""Fold of events to facts: the state of a job or node is a function of the set of its events.

Events are put in the order in which they happened, whatever the order of their arrival, so late, repeated and reordered
events end in the same state. `snapshots` are their times: a job that is open and has no event since then is
gone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from twin.connectors.facts import (
    DOWN,
    ENDED,
    HELD,
    LOST,
    REQUEUED,
    RUNNING,
    SUSPENDED,
    UNAVAILABLE,
    UP,
    WAITING,
    Attempt,
    JobFact,
    NodeFact,
    Share,
)
from twin.push.events import ReadFact
from twin.push.vocabulary import JobData

UNENDED: dict[str, Any] = {"ended_ms": None, "shares": ()}  # what an attempt has unless an event states it
NOTHING = {"gpus": 0, "cpus": 0, "memory_mb": 0}  # capacity of a node of which no event states one
ASKED = tuple(name for name in JobData.__struct_fields__ if name not in ("submitted_ms", "reason", "message"))


def jobs(key: str, events: Iterable[ReadFact], snapshots: Sequence[int] = ()) -> list[JobFact]:
    """The jobs that had this key, oldest first; none while no event states when the job was submitted."""
    ordered = sorted(set_of(events))
    submissions = sorted({at for event in ordered if (at := _submission(event)) is not None})
    if not submissions:
        return []
    lives: dict[int, list[ReadFact]] = {at: [] for at in submissions}
    for event in ordered:
        stated = event.data.get("submitted_ms")
        lives[submissions[max(0, bisect_right(submissions, event.at_ms) - 1)] if stated is None else stated].append(
            event
        )
    return [_Job(key, at).fold(life, snapshots) for at, life in lives.items() if life]


def node(name: str, events: Iterable[ReadFact], snapshots: Sequence[int] = ()) -> NodeFact | None:
    """The node; None where it is removed, or missing in a snapshot."""
    ordered = sorted(set_of(events))
    fields = node_fields(ordered)
    if fields is None or _first_after(snapshots, ordered[-1].at_ms) is not None:
        return None
    queues = tuple(fields.get("queues", ()))
    times = {"since_ms": state_since(ordered), "capacity_since_ms": capacity_since(ordered)}
    return NodeFact(name, **(fields | {"queues": queues} | times))


def state_since(ordered: Iterable[ReadFact]) -> int | None:
    """Time of the event since which the node has been available, draining or unavailable; None without such an event.

    A removed node is unavailable until it is stated again. An event that stands for several (compaction.py) states
    that time as since_ms.
    """
    was, since_ms, removed = UP, None, False
    for event in ordered:
        now = event.data.get("state", UP if removed else was)
        removed = event.type == "node.removed"
        state = DOWN if removed or now in UNAVAILABLE else now
        if state != was or "since_ms" in event.data:
            was, since_ms = state, event.data.get("since_ms", event.at_ms)
    return since_ms


def capacity_since(ordered: Iterable[ReadFact]) -> int | None:
    """Time of the event since which the node has had its capacity; None if it has always had it.

    An event that stands for several states that time as capacity_since_ms.
    """
    was: dict[str, int] | None = None
    since_ms = None
    removed = False
    for event in ordered:
        if event.type == "node.removed":
            removed = True
            continue
        if was is None and not NOTHING.keys() & event.data.keys():  # its capacity is not stated yet
            continue
        before = NOTHING if removed or was is None else was
        now = {name: event.data.get(name, amount) for name, amount in before.items()}
        if was not in (None, now):
            since_ms = event.at_ms
        was, removed = now, False
        since_ms = event.data.get("capacity_since_ms", since_ms)
    return since_ms


def node_fields(ordered: Iterable[ReadFact]) -> dict[str, Any] | None:
    """State of a node by its events in order; None if it is removed."""
    fields: dict[str, Any] | None = None
    for event in ordered:
        if event.type == "node.removed":
            fields = None
            continue
        if "state" in event.data and fields:
            fields.pop("reason", None)
        fields = {**(fields or {}), **event.data}
    return fields


def set_of(events: Iterable[ReadFact]) -> list[ReadFact]:
    """The events without repetitions."""
    return list({event.digest: event for event in events}.values())


def _submission(event: ReadFact) -> int | None:
    return event.data.get("submitted_ms", event.at_ms if event.type == "job.submitted" else None)


def _first_after(snapshots: Sequence[int], at_ms: int) -> int | None:
    index = bisect_right(snapshots, at_ms)
    return snapshots[index] if index < len(snapshots) else None


class _Job:
    """A job during the fold of its events."""

    def __init__(self, key: str, submitted_ms: int) -> None:
        self.key, self.submitted_ms = key, submitted_ms
        self.state, self.reason, self.message, self.outcome = WAITING, "", "", ""
        self.restarts = 0
        self.attempts: dict[int, Attempt] = {}  # by their start
        self.suspensions: list[tuple[int, int]] = []  # start and end of those that are over
        self.suspended_ms = 0  # start of the suspension, while the state is SUSPENDED
        self.ended_ms: int | None = None
        self.asked: dict[str, Any] = {}
        self.asked_before: dict[str, Any] = {}  # before the event
        self.asked_then: dict[int, dict[str, Any]] = {}  # of attempts that have ended: before that
        self.last_ms = submitted_ms  # time of the event before

    def fold(self, events: Sequence[ReadFact], snapshots: Sequence[int]) -> JobFact:
        for event in events:
            self.asked_before = self.asked
            self.asked = self.asked | {name: event.data[name] for name in ASKED if name in event.data}
            if event.type != "job.changed" or "reason" in event.data:
                self.reason, self.message = event.data.get("reason", ""), event.data.get("message", "")
            before = self.state
            getattr(self, "_" + event.type.removeprefix("job."))(event.at_ms, event.data)
            self._suspension(before, event.at_ms)
            self.last_ms = max(self.last_ms, event.at_ms)
        gone_ms = _first_after(snapshots, self.last_ms)
        if self.state != ENDED and gone_ms is not None:
            self._close(gone_ms, LOST, after_ms=self.last_ms)
            before, self.state, self.outcome, self.ended_ms = self.state, ENDED, LOST, gone_ms
            self._suspension(before, gone_ms)
        attempts = tuple(self._with_amounts(self.attempts[at]) for at in sorted(self.attempts))
        expected = self.restarts + (self.state in (RUNNING, SUSPENDED))
        return JobFact(
            self.key, self.submitted_ms, self.state, reason=self.reason, message=self.message, outcome=self.outcome,
            restarts=self.restarts, attempts=attempts, complete_history=len(attempts) >= expected,
            ended_ms=self.ended_ms, suspensions=self._suspensions(), **self.asked,
        )  # fmt: skip

    def _with_amounts(self, attempt: Attempt) -> Attempt:
        """Attempt with amounts; a single share without them holds what the job asks for, or asked for before."""
        if len(attempt.shares) != 1 or attempt.shares[0] != Share(attempt.shares[0].node):
            return attempt
        last = attempt.started_ms == max(self.attempts) and attempt.ended_ms in (None, self.ended_ms)
        asked = self.asked if last else self.asked | self.asked_then.get(attempt.started_ms, {})
        amounts = {name: asked[name] for name in ("gpus", "cpus", "memory_mb") if name in asked}
        return replace(attempt, shares=(Share(attempt.shares[0].node, **amounts),))

    def _suspension(self, before: str, at_ms: int) -> None:
        """Start or end of a suspension by an event that changed the state."""
        if before != SUSPENDED and self.state == SUSPENDED:
            self.suspended_ms = at_ms
        elif before == SUSPENDED and self.state != SUSPENDED:
            end_ms = at_ms if self.ended_ms is None else min(at_ms, self.ended_ms)
            if end_ms > self.suspended_ms:
                self.suspensions.append((self.suspended_ms, end_ms))

    def _suspensions(self) -> tuple[tuple[int, int | None], ...]:
        now = ((self.suspended_ms, None),) if self.state == SUSPENDED else ()
        return (*self.suspensions, *now)

    def _submitted(self, at_ms: int, data: Mapping[str, Any]) -> None:
        pass  # requests are taken from every event

    _changed = _submitted

    def _held(self, at_ms: int, data: Mapping[str, Any]) -> None:
        if self.state == WAITING:
            self.state = HELD

    def _released(self, at_ms: int, data: Mapping[str, Any]) -> None:
        if self.state == HELD:
            self.state = WAITING

    def _started(self, at_ms: int, data: Mapping[str, Any]) -> None:
        shares = msgspec.convert(data.get("shares", ()), tuple[Share, ...])
        if self.attempts and at_ms not in self.attempts:
            self.restarts = max(self.restarts, len(self.attempts))
            self._close(at_ms, REQUEUED, after_ms=self.last_ms)  # its end was not reported
        self.attempts[at_ms] = Attempt(at_ms, None, shares or getattr(self.attempts.get(at_ms), "shares", ()))
        self.state, self.outcome, self.ended_ms = RUNNING, "", None

    def _suspended(self, at_ms: int, data: Mapping[str, Any]) -> None:
        if self.state == RUNNING:
            self.state = SUSPENDED

    def _resumed(self, at_ms: int, data: Mapping[str, Any]) -> None:
        if self.state == SUSPENDED:
            self.state = RUNNING

    def _requeued(self, at_ms: int, data: Mapping[str, Any]) -> None:
        self._close(at_ms, data.get("outcome", REQUEUED))
        self.state, self.outcome, self.ended_ms = WAITING, "", None
        self.restarts = max(self.restarts, len(self.attempts))

    def _ended(self, at_ms: int, data: Mapping[str, Any]) -> None:
        self._close(at_ms, data["outcome"])
        self.state, self.outcome, self.ended_ms = ENDED, data["outcome"], at_ms

    def _stated(self, at_ms: int, data: Mapping[str, Any]) -> None:
        stated = msgspec.convert([UNENDED | given for given in data.get("attempts", ())], tuple[Attempt, ...])
        if data.get("complete_history", False):
            self.attempts.clear()
        self.attempts |= {attempt.started_ms: attempt for attempt in stated}
        self.state, self.restarts = data["state"], data.get("restarts", self.restarts)
        self.outcome = data.get("outcome", "")
        ended_ms = data.get("ended_ms")
        self.ended_ms = (at_ms if ended_ms is None else ended_ms) if self.state == ENDED else None
        if self.ended_ms is not None:
            self._close(self.ended_ms, self.outcome or LOST)
        elif self.state in (WAITING, HELD):
            self._close(at_ms, REQUEUED, after_ms=self.last_ms)
        elif self.attempts:
            newest_ms = max(self.attempts)
            self._close(newest_ms, REQUEUED, after_ms=self.last_ms, but=newest_ms)

    def _close(self, at_ms: int, outcome: str, after_ms: int | None = None, but: int | None = None) -> None:
        """End of every execution that has no end yet, but the one that began at `but`.

        after_ms: the end was not seen; it lies between this time and at_ms.
        """
        for start_ms, attempt in self.attempts.items():
            if attempt.ended_ms is None and start_ms != but:
                ended_ms = max(at_ms, start_ms)
                seen_ms = None if after_ms is None else min(max(after_ms, start_ms), ended_ms)
                self.attempts[start_ms] = replace(attempt, ended_ms=ended_ms, outcome=outcome, ended_after_ms=seen_ms)
                self.asked_then[start_ms] = self.asked_before
