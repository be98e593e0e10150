"""Replay: polls that were recorded from another connector (recording.py), at their own pace or faster."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduling.kernel.parameters import Parameters as Base
from scheduling.kernel.parameters import parameter
from scheduling.reporting.quantities import counted
from twin.connectors import recording
from twin.connectors.base import Connector
from twin.connectors.facts import ConnectorError, Finding, Found, Snapshot

ALIVE_S = 5.0  # between two polls while nothing happens


class ReplayConnector(Connector):
    """Connector of a recording."""

    name = "replay"
    title = "Replay"
    summary = "Plays a recording of a cluster, for tests and demonstrations."
    cold = False

    @dataclass(frozen=True, slots=True)
    class Parameters(Base):
        path: str = parameter("", "Folder or .jsonl file with the recording", title="Recording")
        speed: float = parameter(
            1.0,
            "Recorded seconds that are played in one second; 0: without waiting",
            low=0,
            high=1e9,
            unit="×",
            title="Speed",
        )

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        self.path = Path(self.parameters.path)
        self.closed = threading.Event()
        self.polls: Iterator[Snapshot] | None = None
        self.newest: Snapshot | None = None

    def check(self) -> Found:
        """Number of recorded polls, and their time span."""
        polls = list(recording.read(self.path))
        if not polls:
            return Found(findings=(Finding("recording", False, f"{self.path} is empty", "record a cluster first"),))
        seconds = (polls[-1].at_ms - polls[0].at_ms) / 1_000
        return Found(
            "recording", findings=(Finding("recording", True, f"{counted(len(polls), 'poll')} over {seconds:,.0f} s"),)
        )

    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        """The newest poll played; at first, and if a complete one is needed, the next complete one."""
        if self.polls is None:
            self.polls = recording.read(self.path)
        if self.newest is None or self.newest.partial:
            self.newest = next((poll for poll in self.polls if not poll.partial), None)
        if self.newest is None:
            raise ConnectorError(f"the recording {self.path} has no complete poll with which it could begin")
        return self.newest

    def changes(self) -> Iterator[Snapshot]:
        """The following polls, each after the time that had passed before it; then signs of life."""
        before = self.snapshot()
        for poll in self.polls or ():
            yield from self._wait(before, poll.at_ms - before.at_ms)
            if self.closed.is_set():
                return
            self.newest = before = poll
            yield poll
        while not self.closed.wait(ALIVE_S):
            yield Snapshot(before.at_ms, partial=True)

    def close(self) -> None:
        """End of the stream."""
        self.closed.set()

    def _wait(self, before: Snapshot, recorded_ms: int) -> Iterator[Snapshot]:
        """Wait until the recorded time, with an empty snapshot as a sign of life where it is long."""
        left_s = recorded_ms / 1_000 / self.parameters.speed if self.parameters.speed else 0.0
        while left_s > 0 and not self.closed.wait(min(left_s, ALIVE_S)):
            left_s -= ALIVE_S
            if left_s > 0:
                yield Snapshot(before.at_ms, partial=True)
