"""Sampling: asks a sampler every interval, in a thread of its own, and hands its answers to the follower.

A thread of its own, because following must never wait for it: a Prometheus that hangs until its time limit would delay
each poll of the cluster by that time. The thread is given an unchanging copy of the cluster's occupancy, and touches no
database and no mirror; what it found is taken up with the next poll.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.connectors.facts import ConnectorError
from twin.mirror.as_values import EventData
from twin.mirror.differ import Mirror
from twin.mirror.uses import Uses, occupancy
from twin.samplers.base import Sampler, build
from twin.samplers.facts import Occupancy, Sample

log = logging.getLogger(__name__)
STARTING, SAMPLING, FAILING = "starting", "sampling", "failing"


@dataclass
class SamplesHealth:
    """State of sampling, for pages. Times are in Unix seconds of this machine."""

    sampler: str = ""
    state: str = STARTING
    message: str = ""  # what fails, or what the newest answer lacks
    since: float | None = None  # it fails
    at: float | None = None  # of the newest answer
    asked_at: float | None = None
    nodes: int = 0  # with a sample that counts


class Sampling:
    """Samples of one cluster. `exchange` is called by the thread that follows; `close` ends the own thread."""

    def __init__(self, sampler: Sampler, before: Mapping[str, Any] | None = None) -> None:
        """before: the health that an earlier process wrote: a server has at most one sample an interval."""
        self.sampler = sampler
        self.interval_s: float = sampler.parameters.interval_s
        self.uses = Uses(round(self.interval_s * 1000))
        self.health = SamplesHealth(sampler.name)
        asked_at = (before or {}).get("asked_at")
        self.due_at = 0.0 if asked_at is None else min(asked_at, time.time()) + self.interval_s
        self.busy_since: float | None = None
        self.requests: queue.SimpleQueue[Occupancy | None] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Sample | str] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None

    def exchange(self, mirror: Mirror) -> list[EventData]:
        """Events of the samples that have arrived; the next sample is requested when it is due. Never waits."""
        events: list[EventData] = []
        while not self.answers.empty():
            events += self._take(self.answers.get(), mirror)
        now = time.time()
        if self.busy_since is not None:
            if now - self.busy_since > self.interval_s:
                self._fail(f"the sampler {self.sampler.name} has not answered for {now - self.busy_since:.0f} s")
        elif now >= self.due_at and mirror.nodes:
            self.due_at, self.busy_since, self.health.asked_at = now + self.interval_s, now, now
            if self.thread is None:
                self.thread = threading.Thread(target=self._work, name=f"sample-{self.sampler.name}", daemon=True)
                self.thread.start()
            self.requests.put(occupancy(mirror))
        return events

    def close(self) -> None:
        """End of the thread after its present question is answered; the call does not wait for it."""
        if self.thread is None:
            self.sampler.close()
        else:
            self.requests.put(None)

    def _take(self, answer: Sample | str, mirror: Mirror) -> list[EventData]:
        self.busy_since = None
        if isinstance(answer, str):
            self._fail(answer)
            return []
        events = self.uses.take(answer, mirror)
        self.health.state, self.health.since, self.health.message = SAMPLING, None, answer.why
        self.health.at, self.health.nodes = time.time(), self.uses.known(mirror)
        return events

    def _fail(self, message: str) -> None:
        self.health.since = self.health.since or time.time()
        self.health.state, self.health.message = FAILING, message

    def _work(self) -> None:
        while (given := self.requests.get()) is not None:
            try:
                self.answers.put(self.sampler.sample(given))
            except ConnectorError as error:
                self.answers.put(str(error))
            except Exception:
                log.exception("the sampler %s failed", self.sampler.name)
                self.answers.put(f"the sampler {self.sampler.name} failed; the log of the follower has the error")
        self.sampler.close()


def begin(
    name: str, parameters: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> tuple[Sampling | None, SamplesHealth]:
    """(sampling, its health) of a connection; without a sampler, or with one that cannot be made, there is none."""
    if not name:
        return None, SamplesHealth()
    try:
        made = Sampling(build(name, parameters), before)
    except (ConnectorError, ModelError, UnknownName) as error:
        return None, SamplesHealth(name, FAILING, str(error), time.time())
    return made, made.health
