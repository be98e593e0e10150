"""Publication of messages to subscribers by Redis pub/sub, at most once.

The log is the source of truth and a message only a hint, so an unavailable bus never fails a run: the failure is logged
and browsers repair the gap from the log.
"""

from __future__ import annotations

import logging
import os
import time
from functools import cache
from typing import Any

import orjson
import redis
from django.conf import settings

from twin.models import Run, Scenario

log = logging.getLogger(__name__)
QUIET_S = 10.0  # between two log lines about an unavailable bus
_complained = float("-inf")


def runs_channel(team_id: int | None) -> str:
    """The channel of all runs of a team; None: of everybody."""
    return f"twin:runs:{team_id or 0}"


def traces_channel(team_id: int | None) -> str:
    """The same of imports."""
    return f"twin:traces:{team_id or 0}"


def run_channel(run_id: int) -> str:
    """The channel of one run."""
    return f"twin:run:{run_id}"


def publish(channel: str, message: bytes | dict[str, Any]) -> bool:
    """Publication of a message; False if the bus could not be reached."""
    global _complained
    body = message if isinstance(message, bytes) else orjson.dumps(message)
    try:
        client().publish(channel, body)
    except (redis.RedisError, OSError) as error:
        if time.monotonic() - _complained > QUIET_S:
            _complained = time.monotonic()
            log.warning("the frame bus at %r did not accept a message: %s", settings.LAYER_URL, error)
        return False
    return True


def announce(run: Run, status: dict[str, Any]) -> None:
    """Publication of the status of the run to its pages and the overview."""
    publish(run_channel(run.pk), status)
    team = Scenario.objects.filter(pk=run.scenario_id).values_list("team_id", flat=True).first()
    publish(runs_channel(team), {"type": "run", "run": status})


def deleted(run_id: int, sentence: str, team_id: int | None) -> None:
    """Publication of a deletion to the same readers; sentence: names the subject and the user who deleted it."""
    message = {"type": "deleted", "id": run_id, "message": sentence}
    publish(run_channel(run_id), message)
    publish(runs_channel(team_id), message)


def client() -> Any:
    """The connection of this process, made at first use and made again by redis-py after a loss.

    Any: the types of redis.Redis state the answers of a connection with and without asyncio as one.
    """
    return _client(settings.LAYER_URL)


@cache
def _client(url: str) -> redis.Redis:
    if not url:
        raise redis.ConnectionError("LAYER_URL is not set")
    made = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2, health_check_interval=30)
    _made.append(made)
    return made


# Another thread of the parent may hold a lock of its client at a fork. Nobody would ever release it in the child, which
# makes a client of its own; that of the parent stays referenced, because its finalizer would wait for that lock.
_made: list[redis.Redis] = []
os.register_at_fork(after_in_child=_client.cache_clear)
