"""Messages of a channel on their way to its listeners, paced by the number of listeners.

Each message costs time for each listener. With many listeners messages wait for a moment, and consecutive frames among
them are joined to one: so the web server keeps up, whatever the rate of the events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from dashboard.live.mailbox import Mailbox
from twin.eventlog.batch_codec import joined
from twin.infra.columns import MAGIC

COST_S = 0.000_15  # of a message to one listener: processor time of the web server
MIN_PACE_S = 0.005  # below this nothing waits: about 30 listeners
MAX_HELD = 1_000_000  # bytes that wait at most


class Outbox:
    """Messages that wait for the next delivery."""

    def __init__(self, listeners: Collection[Mailbox]) -> None:
        self.listeners = listeners  # the set of the hub, which changes
        self.held: list[bytes] = []
        self.size = 0  # bytes
        self.free_at = 0.0  # time of the loop at which the listeners can take the next message
        self.timer: asyncio.TimerHandle | None = None

    def put(self, message: bytes) -> None:
        """Delivery at once, or after the pace of this number of listeners."""
        loop = asyncio.get_running_loop()
        self.held.append(message)
        self.size += len(message)
        if loop.time() >= self.free_at or self.size > MAX_HELD:
            self.flush()
        elif self.timer is None:
            self.timer = loop.call_at(self.free_at, self.flush)

    def flush(self) -> None:
        """Delivery of all messages that wait."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        held, self.held, self.size = self.held, [], 0
        messages = _together(held)
        for message in messages:
            for box in self.listeners:
                box.put(message)
        pace_s = len(self.listeners) * COST_S * len(messages)
        self.free_at = asyncio.get_running_loop().time() + pace_s if pace_s >= MIN_PACE_S else 0.0


def _together(messages: list[bytes]) -> list[bytes]:
    """The same messages in the same order, with neighbouring frames joined."""
    found: list[bytes] = []
    frames: list[bytes] = []
    for message in messages:
        if message[:4] == MAGIC:
            frames.append(message)
        else:
            found += [*joined(frames), message]
            frames = []
    return [*found, *joined(frames)]
