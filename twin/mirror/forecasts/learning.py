"""State learned from the jobs of a cluster for its forecasts: run times, the cycle, and when each job was forecast."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import msgspec

from scheduling.run_times.predictor import Similar
from scheduling.run_times.tournament import Tournament, similar
from twin.connectors.facts import ENDED, LOST, NODE_FAIL, PREEMPTED, REQUEUED, JobFact
from twin.mirror.forecasts.cluster_state import identity

HOUR_MS = 3_600_000
MAX_CYCLE_MS = 300_000
MAX_CYCLES = 100  # pauses between an end and a start that count
MAX_ENDED = 20_000  # jobs that are remembered as ended
NO_LESSON = (NODE_FAIL, PREEMPTED, REQUEUED, LOST)  # how long such a job ran says nothing
QUARTERS = (25, 50, 75)
SUBMISSION, HOUR = "submission", "hour"


@dataclass(slots=True)
class Asked:
    """First forecast of a waiting job: its time, its start, and the occasions that are over."""

    first_ms: int
    start_ms: int | None
    quarters: int = 0
    hours: int = 0


@dataclass
class Learned:
    """run, seq: the log from which it has learned, and how far."""

    tournament: Tournament = field(default_factory=Tournament)
    run: int = 0
    seq: int = -1
    pauses: list[int] = field(default_factory=list)  # ms between what a start waited for and the start
    ends: dict[str, int] = field(default_factory=dict)  # node -> when a job ended there last
    asked: dict[str, Asked] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)  # open jobs whose start has been taken in
    over: dict[str, None] = field(default_factory=dict)  # jobs whose end has been taken in

    @property
    def cycle_ms(self) -> int:
        """Usual time from the end of a job to the start of the next one."""
        return min(MAX_CYCLE_MS, round(median(self.pauses))) if self.pauses else 0

    def see(self, fact: JobFact) -> None:
        """Update by a job that is new or has changed."""
        name = identity(fact)
        if name in self.over:
            return
        if fact.attempts and name not in self.started:
            self.started.add(name)
            self._pause(fact)
        if fact.state != ENDED:
            self.tournament.submitted(name, key_of(fact))
            return
        self.over[name] = None
        self.started.discard(name)
        self.asked.pop(name, None)
        while len(self.over) > MAX_ENDED:
            del self.over[next(iter(self.over))]
        last = fact.attempts[-1] if fact.attempts else None
        if last is None or last.ended_ms is None or fact.outcome in NO_LESSON:
            self.tournament.withdrawn(name)
        else:
            self.tournament.ended(name, key_of(fact), max(0, last.ended_ms - last.started_ms), last.ended_ms)
        if last is not None and last.ended_ms is not None:
            for share in last.shares:
                self.ends[share.node] = max(self.ends.get(share.node, 0), last.ended_ms)

    def due(self, name: str, at_ms: int, start_ms: int | None) -> str:
        """The occasion on which a waiting job is to be forecast for the score now; empty for none."""
        asked = self.asked.get(name)
        if asked is None:
            self.asked[name] = Asked(at_ms, start_ms)
            return SUBMISSION
        if asked.start_ms is not None:
            wait_ms = max(1, asked.start_ms - asked.first_ms)
            passed = sum(100 * (at_ms - asked.first_ms) >= percent * wait_ms for percent in QUARTERS)
            if passed > asked.quarters:
                asked.quarters = passed
                return f"{QUARTERS[passed - 1]} %"
        hours = (at_ms - asked.first_ms) // HOUR_MS
        if hours > asked.hours:
            asked.hours = hours
            return HOUR
        return ""

    def _pause(self, fact: JobFact) -> None:
        """The time from the last end on its nodes to the start of a job that waited for that end."""
        first = fact.attempts[0]
        ends = [self.ends.get(share.node, 0) for share in first.shares]
        before = [ms for ms in ends if fact.submitted_ms <= ms <= first.started_ms]
        if before:
            self.pauses = [*self.pauses, first.started_ms - max(before)][-MAX_CYCLES:]

    def pack(self) -> bytes:
        """The same as bytes."""
        plain = {
            "tournament": self.tournament.state(), "run": self.run, "seq": self.seq, "pauses": self.pauses,
            "ends": self.ends, "started": sorted(self.started), "over": list(self.over),
            "asked": {name: [row.first_ms, row.start_ms, row.quarters, row.hours] for name, row in self.asked.items()},
        }  # fmt: skip
        return zlib.compress(msgspec.msgpack.encode(plain), 1)


def unpack(payload: bytes) -> Learned:
    """The inverse of `Learned.pack`; nothing learned from no bytes."""
    made = Learned()
    if not payload:
        return made
    plain: Mapping[str, Any] = msgspec.msgpack.decode(zlib.decompress(payload))
    made.tournament.restore(plain["tournament"])
    made.run, made.seq, made.pauses, made.ends = plain["run"], plain["seq"], plain["pauses"], plain["ends"]
    made.asked = {name: Asked(*row) for name, row in plain["asked"].items()}
    made.started, made.over = set(plain["started"]), dict.fromkeys(plain["over"])
    return made


def key_of(fact: JobFact) -> Similar:
    """The job as run-time predictors compare it: by its GPUs, or its CPUs where it has none."""
    return similar(fact.user, fact.gpus or fact.cpus or 1, fact.limit_ms)
