"""Bounded queue of the messages for one client."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import Enum

from twin.infra import counters

MAX_MESSAGES = 512
MAX_BYTES = 4 * 1024 * 1024


class Gap(Enum):
    """Reason why messages are missing from here on."""

    OVERFLOWED = "the client was too slow, so its queue was dropped"
    RESUMED = "the frame bus was temporarily unavailable"


class Mailbox:
    """Bounded queue of messages of one client.

    Beyond MAX_MESSAGES or MAX_BYTES it is emptied and the client notified.
    """

    def __init__(self) -> None:
        self.messages: deque[bytes | Gap] = deque()
        self.size = 0  # bytes
        self.stale = False  # its subscription is not confirmed; the client is notified when it is
        self.ready = asyncio.Event()

    def put(self, message: bytes | Gap) -> None:
        """Message for the client, added to the box; all messages are dropped if the client is too far behind."""
        if self.messages and self.messages[0] is Gap.OVERFLOWED:
            return  # it will fetch a snapshot, which holds this message too
        size = len(message) if isinstance(message, bytes) else 0
        if len(self.messages) >= MAX_MESSAGES or self.size + size > MAX_BYTES:
            counters.count("frames_dropped", by=len(self.messages) + 1)
            self.messages.clear()
            self.size, size, message = 0, 0, Gap.OVERFLOWED
        self.messages.append(message)
        self.size += size
        self.ready.set()

    async def get(self) -> bytes | Gap:
        """Next message, or the gap in its place."""
        await self.ready.wait()
        message = self.messages.popleft()
        if isinstance(message, bytes):
            self.size -= len(message)
        if not self.messages:
            self.ready.clear()
        return message
