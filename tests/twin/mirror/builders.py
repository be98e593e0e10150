"""Polls of a small made-up cluster, and the state that a log of its mirror gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from scheduling.model.bars import Placement
from scheduling.model.values import Event
from twin.connectors.base import Connector
from twin.connectors.facts import (
    ENDED,
    RUNNING,
    SUSPENDED,
    WAITING,
    Attempt,
    ConnectorError,
    Found,
    JobFact,
    NodeFact,
    Share,
    Snapshot,
)
from twin.eventlog.fold import BORN, DIED, NEVER, RunState
from twin.mirror.as_values import EventData, joined
from twin.mirror.differ import Mirror

EPOCH = 1_795_000_000_000
S = 1_000
NODES = (
    NodeFact("edge1", gpus=4, cpus=8, memory_mb=16_000, queues=("edge",)),
    NodeFact("cloud1", gpus=4, cpus=8, memory_mb=16_000, queues=("cloud",)),
)


def at(second: int) -> int:
    """A time of the cluster."""
    return EPOCH + second * S


def job(key: str, state: str = WAITING, **fields: Any) -> JobFact:
    return JobFact(
        key, fields.pop("submitted_ms", at(0)), state, gpus=fields.pop("gpus", 2), cpus=2, memory_mb=4_000, **fields
    )


def attempt(start: int, end: int | None = None, node: str = "edge1", gpus: int = 2, **fields: Any) -> Attempt:
    share = Share(node, gpus=gpus, cpus=2, memory_mb=4_000, gpu_ids=fields.pop("gpu_ids", ()))
    return Attempt(at(start), None if end is None else at(end), (share,), **fields)


def running(key: str, start: int, **fields: Any) -> JobFact:
    return job(
        key,
        RUNNING,
        attempts=(attempt(start, **{k: fields.pop(k) for k in ("node", "gpus", "gpu_ids") if k in fields}),),
        **fields,
    )


def calls_of(action: Callable[[], Any]) -> int:
    """How many Python functions the action calls: its cost, without a clock."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def suspended(fact: JobFact) -> JobFact:
    return replace(fact, state=SUSPENDED)


def ended(fact: JobFact, end: int, outcome: str = "completed", **fields: Any) -> JobFact:
    attempts = fact.attempts and (*fact.attempts[:-1], replace(fact.attempts[-1], ended_ms=at(end), outcome=outcome))
    return replace(fact, state=ENDED, outcome=outcome, attempts=attempts, ended_ms=at(end), **fields)


def polled(second: int, *jobs: JobFact, nodes: tuple[NodeFact, ...] | None = NODES, **fields: Any) -> Snapshot:
    return Snapshot(at(second), jobs, nodes, **fields)


def kinds(events: list[EventData]) -> list[str]:
    return [kind for kind, _ in events]


class Log:
    """A mirror, and the log that it writes."""

    def __init__(self) -> None:
        self.mirror = Mirror(EPOCH)
        self.events: list[Event] = []

    def apply(self, snapshot: Snapshot) -> list[EventData]:
        return self.write(self.mirror.apply(snapshot))

    def write(self, events: list[EventData]) -> list[EventData]:
        for kind, data in events:
            self.events.append(Event(len(self.events) + 1, self.mirror.log_ms, kind, data))
        return events

    def bars(self) -> set[tuple[int, ...]]:
        """(job, server, start, end, count, GPU) of every valid bar, whether its job is suspended or not."""
        rows = RunState().feed(self.events).bars.rows
        valid = [row for row in rows.tolist() if row[DIED] == NEVER and row[BORN] <= self.mirror.log_ms]
        whole = [
            bar for job in sorted({row[0] for row in valid})
            for bar in joined(Placement(*row[:BORN]) for row in valid if row[0] == job)
        ]  # fmt: skip
        return {(bar.job, bar.server, bar.start_ms, bar.end_ms, bar.count, bar.worker_slot) for bar in whole}


class Scripted(Connector):
    """A cluster whose answers are written down: snapshots and errors, one a call; the last one is repeated."""

    def __init__(
        self, *answers: Snapshot | ConnectorError, accounting: Sequence[JobFact] = (), known: Sequence[JobFact] = ()
    ) -> None:
        super().__init__()
        self.answers, self.accounting, self.known = list(answers), accounting, {fact.key: fact for fact in known}
        self.asked: list[tuple[str, ...]] = []

    def check(self) -> Found:
        return Found()

    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ConnectorError):
            raise answer
        return answer

    def history(self, since_ms: int, until_ms: int) -> Iterator[JobFact]:
        yield from self.accounting

    def details(self, keys: Sequence[str]) -> list[JobFact]:
        self.asked.append(tuple(keys))
        return [self.known[key] for key in keys if key in self.known]
