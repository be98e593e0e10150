"""Messages of a channel on their way to its listeners, paced by what a delivery costs.

Each message costs time for each listener. With many listeners messages wait until those before them have been sent,
and for a rest after that; consecutive frames among them are joined to one. So the web server keeps up, whatever the
rate of the events and the speed of the machine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection

from dashboard.live.mailbox import Mailbox
from twin.eventlog.batch_codec import joined
from twin.infra.columns import MAGIC

MAX_UNPACED = 30  # listeners without a pace: their messages never wait
REST = 0.5  # of the time of a delivery: the web server is free for other work for a third of the time
MAX_REST_S = 1.0
MAX_HELD = 1_000_000  # bytes that wait at most


class Outbox:
    """Messages that wait for the next delivery."""

    def __init__(self, listeners: Collection[Mailbox]) -> None:
        self.listeners = listeners  # the set of the hub, which changes
        self.held: list[bytes] = []
        self.size = 0  # bytes
        self.busy = False  # from a delivery until the end of the rest after it
        self.deliveries = 0

    def put(self, message: bytes) -> None:
        """Delivery at once, or with the next one."""
        self.held.append(message)
        self.size += len(message)
        if not self.busy or len(self.listeners) <= MAX_UNPACED or self.size > MAX_HELD:
            self.flush()

    def flush(self) -> None:
        """Delivery of all messages that wait."""
        began = time.monotonic()  # the loop's clock does not advance within one iteration
        held, self.held, self.size = self.held, [], 0
        for message in _together(held):
            for box in self.listeners:
                box.put(message)
        if held:
            self.busy = True
            self.deliveries += 1
            loop = asyncio.get_running_loop()
            # First run the tasks of the listeners, which are scheduled already; then the loop writes what they send.
            loop.call_soon(loop.call_soon, self._sent, self.deliveries, began)

    def _sent(self, delivery: int, began: float) -> None:
        """Rest after a delivery has been sent, unless there is a newer one."""
        if delivery == self.deliveries:
            rest_s = min((time.monotonic() - began) * REST, MAX_REST_S)
            asyncio.get_running_loop().call_later(rest_s, self._rested, delivery)

    def _rested(self, delivery: int) -> None:
        if delivery == self.deliveries:
            self.busy = False
            self.flush()


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
