"""WebSocket consumers of a run and of the overview: they forward messages of the hub and answer from the log."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from importlib import import_module
from random import uniform
from typing import Annotated, Any

import msgspec
import orjson
from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError

from dashboard.auth.roles import is_viewer
from dashboard.auth.visible import teams_of, visible, what_was
from dashboard.live.hub import hub
from dashboard.live.mailbox import Gap, Mailbox
from twin.eventlog import event_log
from twin.eventlog import frames as wire
from twin.infra import counters, pubsub
from twin.infra.columns import MAGIC
from twin.models import Run, Team
from twin.runs import readers

log = logging.getLogger(__name__)
MAX_MESSAGE_BYTES = 4_096  # bytes from a client, whose requests are small
REPAIR_BATCHES = 4  # that are read at a time
MAX_EVENTS_BEHIND = 50_000  # events; beyond this a snapshot is cheaper
RATE, BURST = 20.0, 40.0  # client messages a second, and at once
MAX_UNCHECKED_S = 60.0  # an open socket continues for at most this long after a logout or a removed role
EARLY = 0.5, 0.9  # shares of it after which a check begins, at random: sockets that connect at once are checked apart
NOT_LOGGED_IN, UNKNOWN, TRY_AGAIN = 4401, 4404, 1013


class After(msgspec.Struct, tag="after", forbid_unknown_fields=True):
    """Request for the events after `seq`."""

    seq: Annotated[int, msgspec.Meta(ge=0)]


class Ping(msgspec.Struct, tag="ping", forbid_unknown_fields=True):
    """Ping message."""


decode = msgspec.json.Decoder(After | Ping).decode


class StreamConsumer(AsyncWebsocketConsumer):
    """Base consumer: joins channels of the hub and forwards their messages until the client leaves."""

    channels: tuple[str, ...] = ()
    user: Any = None  # of the newest check

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.box = Mailbox()
        self.tasks: list[asyncio.Task[None]] = []
        counters.count("sockets")
        try:
            await super().__call__(scope, receive, send)
        finally:  # however it ends
            counters.count("sockets", by=-1)
            for task in self.tasks:
                task.cancel()
            await hub().leave(self.box, *self.channels)

    async def connect(self) -> None:
        self.tokens, self.counted = BURST, time.monotonic()
        self.checked = float("-inf")
        await self.accept()
        if not await self.welcome():
            return
        if not await self.prepare():
            return
        await hub().join(self.box, *self.channels)
        await self.greet()
        self.tasks = [asyncio.create_task(self._forward()), asyncio.create_task(self._watch())]

    async def welcome(self) -> bool:
        """Result of the newest check, or of a new one if that is older than MAX_UNCHECKED_S."""
        return time.monotonic() - self.checked < MAX_UNCHECKED_S or await self.check()

    async def check(self) -> bool:
        """Check of the session and of its user's role; closes the socket if it fails."""
        self.checked = time.monotonic()
        stored = import_module(settings.SESSION_ENGINE).SessionStore(self.scope["session"].session_key)
        self.user = await get_user({"session": stored})
        if not await database_sync_to_async(is_viewer)(self.user):
            await self.close(NOT_LOGGED_IN)
            return False
        return await self.sees()

    async def sees(self) -> bool:
        """True if the user still sees what the stream shows; False when the socket was closed instead."""
        return True

    async def prepare(self) -> bool:
        """True if `channels` is set now; False when the socket was closed instead."""
        return True

    async def greet(self) -> None:
        """Delivery of the initial messages to a client."""

    async def repair(self, gap: Gap) -> None:
        """Notification of the client about missing messages, so that it fetches them."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self._allowed():
            await self.say({"type": "error", "message": f"too many messages; at most {RATE:g} per second"})
            return
        if text_data is None or len(text_data) > MAX_MESSAGE_BYTES:
            await self.say(
                {"type": "error", "message": f"a message must be text of at most {MAX_MESSAGE_BYTES:,} bytes"}
            )
            return
        try:
            message = decode(text_data)
        except msgspec.DecodeError as error:
            await self.say({"type": "error", "message": f"invalid message: {error}"})
            return
        if isinstance(message, Ping):
            await self.say({"type": "pong", "wall_ms": int(time.time() * 1000)})
        elif await self.welcome():
            await self.after(message.seq)

    async def after(self, seq: int) -> None:
        """Answer to {"type": "after"}."""
        await self.say({"type": "error", "message": "this stream has no log"})

    async def say(self, message: dict[str, Any]) -> None:
        """Delivery of one message."""
        await self.send(text_data=orjson.dumps(message).decode())

    async def _watch(self) -> None:
        """Checks in advance, so that no message waits for one."""
        good = True
        while good:
            await asyncio.sleep(MAX_UNCHECKED_S * uniform(*EARLY))
            try:
                good = await self.check()
            except DatabaseError:
                self.checked = float("-inf")  # the next message waits for a check
        for task in self.tasks:
            task.cancel()

    async def _forward(self) -> None:
        try:
            while True:
                message = await self.box.get()
                if not await self.welcome():
                    return
                if isinstance(message, Gap):
                    await self.repair(message)
                elif message[:4] == MAGIC:
                    await self.send(bytes_data=message)
                else:
                    await self.send(text_data=message.decode())
                counters.count("frames_sent")
        except Exception as error:  # a stream that ended without notice would look alive; the client reconnects instead
            log.info("a socket is closed: %s: %s", type(error).__name__, error)
            with suppress(Exception):
                await self.close(TRY_AGAIN)

    def _allowed(self) -> bool:
        now = time.monotonic()
        self.tokens = min(BURST, self.tokens + (now - self.counted) * RATE)
        self.counted = now
        self.tokens -= 1
        if self.tokens < 0:
            self.tokens = 0
            return False
        return True


class RunConsumer(StreamConsumer):
    """/ws/runs/<id>/: status, frames, and the answer to "after"."""

    async def prepare(self) -> bool:
        self.run_id = int(self.scope["url_route"]["kwargs"]["run_id"])
        self.channels = (pubsub.run_channel(self.run_id),)
        self.marked = float("-inf")
        return await self.run() is not None

    async def sees(self) -> bool:
        return not self.channels or await self.run() is not None

    async def run(self) -> Run | None:
        """Current run; if it does not exist (any more), its description is sent and the socket is closed."""
        run = await database_sync_to_async(self._run)()
        if run is None:
            if (was := await database_sync_to_async(what_was)("run", self.run_id, self.user)) is not None:
                await self.say({"type": "deleted", "id": self.run_id, "message": str(was)})
            await self.close(UNKNOWN)
        return run

    def _run(self) -> Run | None:
        return visible(Run.objects.all(), self.user).filter(pk=self.run_id).first()

    async def greet(self) -> None:
        if (run := await self.run()) is not None:
            await self._mark()
            await self.say(wire.status(run))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        await self._mark()
        await super().receive(text_data, bytes_data)

    async def _mark(self) -> None:
        """Record that the run has a reader, as long as the client responds."""
        if time.monotonic() - self.marked >= readers.RENEW_S:
            self.marked = time.monotonic()
            await asyncio.to_thread(readers.mark, self.run_id)

    async def repair(self, gap: Gap) -> None:
        if gap is Gap.RESUMED:
            await self.greet()  # the client sees by last_seq whether it lacks anything
        elif (run := await self.run()) is not None:
            await self.say({"type": "snapshot_needed", "last_seq": run.last_seq})

    async def after(self, seq: int) -> None:
        if (run := await self.run()) is None:
            return
        last = run.last_seq
        if last - seq > MAX_EVENTS_BEHIND:
            await self.say({"type": "snapshot_needed", "last_seq": last})
            return
        while seq < last:
            batches = await database_sync_to_async(event_log.stored_after)(self.run_id, seq, REPAIR_BATCHES)
            if not batches:
                break
            for _, batch in batches:
                await self.send(bytes_data=batch)
            seq = batches[-1][0]


class OverviewConsumer(StreamConsumer):
    """/ws/overview/: status of runs and imports."""

    async def prepare(self) -> bool:
        self.channels = await database_sync_to_async(self._channels)()
        return True

    async def sees(self) -> bool:
        """True if the teams of the user are as before; otherwise the socket is closed and the client connects again."""
        if not self.channels or self.channels == await database_sync_to_async(self._channels)():
            return True
        await self.close(TRY_AGAIN)
        return False

    def _channels(self) -> tuple[str, ...]:
        mine = teams_of(self.user)
        teams = [None, *(Team.objects.order_by("pk").values_list("pk", flat=True) if mine is None else sorted(mine))]
        return tuple(channel(team) for team in teams for channel in (pubsub.runs_channel, pubsub.traces_channel))

    async def repair(self, gap: Gap) -> None:
        await self.say({"type": "snapshot_needed", "last_seq": 0})


class NowhereConsumer(AsyncWebsocketConsumer):
    """Any other address: closes the socket with a code instead of a traceback."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(UNKNOWN)
