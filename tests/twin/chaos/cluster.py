"""A cluster that posts what happens on it while the faults happen, and remembers it."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.twin.chaos.client import Client

NODES = 8
EVERY_S = 0.5  # between two posts
MEDIA_TYPE = "application/cloudevents-batch+json"


@dataclass
class Ran:
    """What a job did: Unix times in ms."""

    node: str
    submitted_ms: int
    started_ms: int
    ended_ms: int = 0


@dataclass
class PostingCluster:
    """Nodes on which jobs start and end by chance; each event is posted until the twin has accepted it."""

    client: Client
    seed: int
    jobs: dict[str, Ran] = field(default_factory=dict)
    posted: int = 0

    def begin(self) -> None:
        """Posts the nodes, then goes on in a thread of its own."""
        self.over, self.faults = threading.Event(), []
        now = _now_ms()
        self._post([_event("node.changed", f"n{i}", now, gpus=8, cpus=64) for i in range(NODES)])
        self.thread = threading.Thread(target=self._go_on, daemon=True)
        self.thread.start()

    def end(self) -> None:
        """Ends the jobs that run; returns when the last event is accepted."""
        self.over.set()
        self.thread.join()
        if self.faults:
            raise self.faults[0]
        self._post([self._ended(name) for name, job in self.jobs.items() if not job.ended_ms])

    def _go_on(self) -> None:
        chance = random.Random(self.seed)
        try:
            while not self.over.wait(EVERY_S):
                events = self._started(chance)
                events += [self._ended(name) for name, job in self._running().items() if chance.random() < 0.15]
                self._post(events)
        except Exception as error:  # for the thread that waits for this one
            self.faults.append(error)

    def _running(self) -> dict[str, Ran]:
        return {name: job for name, job in self.jobs.items() if not job.ended_ms}

    def _started(self, chance: random.Random) -> list[dict[str, Any]]:
        """A job on a node without one, or none."""
        free = sorted({f"n{i}" for i in range(NODES)} - {job.node for job in self._running().values()})
        if not free:
            return []
        name, now = f"j{len(self.jobs)}", _now_ms()
        job = self.jobs[name] = Ran(chance.choice(free), now, now + 1)
        return [
            _event("job.submitted", name, job.submitted_ms, gpus=8, limit_ms=3_600_000),
            _event("job.started", name, job.started_ms, shares=[{"node": job.node, "gpus": 8}]),
        ]

    def _ended(self, name: str) -> dict[str, Any]:
        self.jobs[name].ended_ms = max(_now_ms(), self.jobs[name].started_ms + 1)
        return _event("job.ended", name, self.jobs[name].ended_ms, outcome="completed")

    def _post(self, events: list[dict[str, Any]]) -> None:
        if events:
            answer = self.client.post("/api/ingest/lab/events", events, MEDIA_TYPE)
            assert answer["rejected"] == [], answer
            self.posted += len(events)


def _event(type: str, subject: str, at_ms: int, **data: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0", "id": f"{type} {subject} {at_ms}", "source": "/lab", "type": type, "subject": subject,
        "time": datetime.fromtimestamp(at_ms / 1_000, UTC).isoformat(), "data": data,
    }  # fmt: skip


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
