"""Check that a Celery worker takes tasks from its queues.

Its main process may respond although it has lost its consumer or its pool.

A thread of the main process checks what is visible from outside: messages wait in the queues while a process of the
pool is idle, or no process of the pool responds at all. Celery's own state is not used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from kombu import Connection
from kombu.exceptions import ChannelError

from twin.infra import processor
from twin.processes import heartbeat

CHECK_S = 1.0
MAX_CHECK_S = 2.0  # maximum counted time between two checks of a delayed process
STALLED_S = 6.0  # shorter waits do not count as stalled; times the overload of the machine


class Intake:
    """Watched properties of a worker. parent: the name of its main process; queues: those that it consumes."""

    def __init__(self, broker: Connection, parent: str, queues: Sequence[str]) -> None:
        self.broker, self.parent, self.queues = broker, parent, queues
        self.idle: dict[str, int] = {}  # process of the pool -> tasks that it had begun when it became idle
        self.checked_at, self.stalled_s = time.monotonic(), 0.0  # time without taking a task although there are some
        self.verdict = ""

    def start(self) -> Intake:
        threading.Thread(target=self._run, name="intake", daemon=True).start()
        return self

    def fault(self) -> str:
        """Reason why tasks are not taken; empty while they are."""
        return self.verdict

    def _run(self) -> None:
        while True:
            self.verdict = self.check()
            time.sleep(CHECK_S)

    def check(self) -> str:
        """Current fault."""
        try:
            why = self._standing()
        except Exception:  # each transport has its own errors; an unavailable broker is reported elsewhere
            self.broker.close()
            why = ""
        passed, self.checked_at = min(time.monotonic() - self.checked_at, MAX_CHECK_S), time.monotonic()
        self.stalled_s = self.stalled_s + passed if why else 0.0
        return f"{why} for {self.stalled_s:.0f} s" if self.stalled_s >= STALLED_S * processor.overload() else ""

    def _standing(self) -> str:
        """Fault since the last check, as text."""
        known = heartbeat.processes()
        if known is None:
            return ""
        pool = [process for process in known if process.parent == self.parent and process.answers]
        before, self.idle = self.idle, {process.name: process.begun for process in pool if not process.doing}
        if not pool:
            return "has had no responding process"
        idle = [name for name, begun in self.idle.items() if before.get(name) == begun]
        waiting = self._waiting()
        if not waiting or not idle:
            return ""
        return (
            f"has not taken any of the {waiting} waiting tasks, although {len(idle)} of its {len(pool)} "
            "processes are idle,"
        )

    def _waiting(self) -> int:
        """Messages in the queues."""
        channel: Any = self.broker.default_channel
        waiting = 0
        for name in self.queues:
            try:
                waiting += channel.queue_declare(name, passive=True).message_count
            except ChannelError:  # an empty queue of Redis does not exist
                channel = self.broker.default_channel
        return waiting
