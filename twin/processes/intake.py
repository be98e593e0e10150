"""Whether a Celery worker takes what its queues hold.

Its main process may answer, and yet have lost its consumer or its pool.

Watched from a thread of the main process, by what can be seen from outside: messages stand in the queues while a
process of the pool is idle, or no process of the pool answers at all. What Celery itself believes is no part of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from kombu import Connection
from kombu.exceptions import ChannelError

from twin.processes import heartbeat

LOOK_S = 1.0
MAX_LOOK_S = 2.0  # what counts of the time between two looks: a process that was held up itself did not look
STANDS_S = 6.0  # what is taken sooner did not stand still


class Intake:
    """Watched properties of a worker. parent: the name of its main process; queues: those that it consumes."""

    def __init__(self, broker: Connection, parent: str, queues: Sequence[str]) -> None:
        self.broker, self.parent, self.queues = broker, parent, queues
        self.idle: dict[str, int] = {}  # process of the pool -> tasks that it had begun when it became idle
        self.looked, self.stood_s = time.monotonic(), 0.0  # for how long it has taken nothing though there is something
        self.verdict = ""

    def start(self) -> Intake:
        threading.Thread(target=self._run, name="intake", daemon=True).start()
        return self

    def fault(self) -> str:
        """Reason why tasks are not taken; empty while they are."""
        return self.verdict

    def _run(self) -> None:
        while True:
            self.verdict = self.look()
            time.sleep(LOOK_S)

    def look(self) -> str:
        """The verdict at this moment."""
        try:
            why = self._standing()
        except Exception:  # each transport has its own; of a broker that is away others tell
            self.broker.close()
            why = ""
        passed, self.looked = min(time.monotonic() - self.looked, MAX_LOOK_S), time.monotonic()
        self.stood_s = self.stood_s + passed if why else 0.0
        return f"{why} for {self.stood_s:.0f} s" if self.stood_s >= STANDS_S else ""

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
