"""One subscription per web process, fanned out to its own sockets through bounded queues.

A published frame is forwarded as it is; where a channel has many listeners, consecutive frames are joined first
(outbox.py). The bus may drop messages and become unavailable; clients that may have missed something are notified
(mailbox.Gap) and repair it from the log.
"""

from __future__ import annotations

import asyncio
import logging
from weakref import WeakKeyDictionary

import redis.asyncio as redis
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from dashboard.live.mailbox import Gap, Mailbox
from dashboard.live.outbox import Outbox

log = logging.getLogger(__name__)
RECONNECT_S = 0.5
MAX_WAIT_S = 2.0  # of a new client for its subscription


class Hub:
    """Subscription of this process and its listeners by channel."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.boxes: dict[str, set[Mailbox]] = {}
        self.outboxes: dict[str, Outbox] = {}
        self.asked: set[str] = set()  # channels that this connection has requested
        self.standing: dict[str, asyncio.Event] = {}  # set once the server has confirmed the channel
        self.pubsub: redis.client.PubSub | None = None
        self.lock = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None

    async def join(self, box: Mailbox, *channels: str) -> None:
        """Addition of `box` as a listener of the channels.

        Returns when the server has confirmed that, so that a later read of the log leaves no gap; without a bus it
        returns after MAX_WAIT_S and the box is notified later.
        """
        for channel in channels:
            self.boxes.setdefault(channel, set()).add(box)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._listen())
        await self._reconcile()
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                for channel in channels:
                    await self.standing.setdefault(channel, asyncio.Event()).wait()
        except TimeoutError:
            box.stale = True

    async def leave(self, box: Mailbox, *channels: str) -> None:
        """Removal of the listener added by `join`."""
        for channel in channels:
            listeners = self.boxes.get(channel, set())
            listeners.discard(box)
            if not listeners:
                self.boxes.pop(channel, None)
                self.outboxes.pop(channel, None)
        await self._reconcile()

    async def _reconcile(self) -> None:
        """Alignment of the server's subscriptions with the channels in use."""
        async with self.lock:
            if self.pubsub is None:
                return
            try:
                if wanted := self.boxes.keys() - self.asked:
                    await self.pubsub.subscribe(*wanted)
                    self.asked |= wanted
                if unwanted := self.asked - self.boxes.keys():
                    for channel in unwanted:
                        self.standing.pop(channel, None)
                    await self.pubsub.unsubscribe(*unwanted)
                    self.asked -= unwanted
            except (redis.RedisError, OSError) as error:
                log.info("the hub will subscribe again when the bus is available: %s", error)

    async def _listen(self) -> None:
        """Reception while there are listeners, over one connection after the other."""
        complained = False
        while self.boxes:
            # No retries inside redis-py: a lost connection is a gap that must be reported to clients.
            client = redis.Redis.from_url(self.url, health_check_interval=15, retry=Retry(NoBackoff(), 0))
            try:
                async with client.pubsub() as pubsub:
                    await pubsub.connect()
                    complained = False
                    await self._serve(pubsub)
            except (redis.RedisError, OSError) as error:
                self._lost()
                if not complained:
                    log.warning("the hub lost the frame bus: %s", error)
                complained = True
            except Exception:
                log.exception("the hub failed and reconnects")
            finally:
                await client.aclose()
            if self.boxes:
                await asyncio.sleep(RECONNECT_S)

    async def _serve(self, pubsub: redis.client.PubSub) -> None:
        self.pubsub = pubsub
        try:
            await self._reconcile()
            await self._pass_on(pubsub)
        finally:
            self._lost()

    async def _pass_on(self, pubsub: redis.client.PubSub) -> None:
        while self.boxes:
            message = await pubsub.get_message(timeout=5)
            kind = message["type"] if message else ""
            if kind == "message":
                self._deliver(message["channel"].decode(), message["data"])
            elif kind == "subscribe":
                self._stands(message["channel"].decode())

    def _deliver(self, channel: str, message: bytes) -> None:
        """Message for all listeners of the channel, at once or with the next ones."""
        listeners = self.boxes.get(channel)
        if listeners:
            self.outboxes.setdefault(channel, Outbox(listeners)).put(message)

    def _stands(self, channel: str) -> None:
        """Confirmation of a channel: waiting listeners continue, those served without it are notified of the gap."""
        event = self.standing.setdefault(channel, asyncio.Event())
        again = event.is_set()  # redis-py connected again by itself
        event.set()
        if channel in self.outboxes:
            self.outboxes[channel].flush()  # what was received before the gap
        for box in self.boxes.get(channel, ()):
            if box.stale or again:
                box.stale = False
                box.put(Gap.RESUMED)

    def _lost(self) -> None:
        self.pubsub = None
        self.asked.clear()
        self.standing.clear()
        for listeners in self.boxes.values():
            for box in listeners:
                box.stale = True


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(settings.LAYER_URL)
    return _hubs[loop]
