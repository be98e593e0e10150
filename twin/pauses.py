"""Pauses that the database could not take yet (locked, disk full): kept in the broker until the ticker can write them."""

from __future__ import annotations

import logging

import redis
from django.db import DatabaseError, connection
from django.db.models import F
from django.utils import timezone

from twin import bus, disk, wire
from twin.models import Run

log = logging.getLogger(__name__)
NOTED = "twin:pauses"  # hash: run id -> reason


def hold(run_id: int, error: Exception) -> None:
    """Pauses the run with the reason, in the database when it takes it, else noted for `write_noted`."""
    reason = _reason(error)
    connection.close()
    if write(run_id, reason):
        return
    try:
        bus.client().hset(NOTED, str(run_id), reason)
        run = Run.objects.get(pk=run_id)
        run.status, run.wanted, run.message = Run.PAUSED, Run.PAUSED, reason
        bus.announce(run, wire.status(run))  # its watchers learn it before the database does
    except (redis.RedisError, DatabaseError, OSError) as second:
        log.warning("run %s: its pause could not be noted either (%s); its lease will run out", run_id, second)


def write(run_id: int, reason: str) -> bool:
    """Writes the pause and takes the run from whoever works on it; False when the database does not take it."""
    try:
        run = Run.objects.get(pk=run_id)
        Run.objects.filter(pk=run_id, status__in=Run.ACTIVE).update(
            status=Run.PAUSED, wanted=Run.PAUSED, message=reason[:1000], epoch=F("epoch") + 1, lease_until=None, lease_owner="",
            clock_sim_ms=max(run.sim_ms, run.clock_sim_ms), clock_wall=timezone.now(),
        )  # fmt: skip
        run.refresh_from_db()
    except Run.DoesNotExist:
        return True
    except DatabaseError as error:
        log.warning("run %s: its pause could not be written yet: %s", run_id, error)
        connection.close()
        return False
    bus.announce(run, wire.status(run))
    return True


def write_noted() -> list[int]:
    """Writes the noted pauses that the database takes now; returns their runs."""
    try:
        noted = bus.client().hgetall(NOTED)
    except (redis.RedisError, OSError):
        return []
    written = []
    for key, reason in noted.items():  # type: ignore[union-attr]
        if write(int(key), reason.decode()):
            bus.client().hdel(NOTED, key)
            written.append(int(key))
    return written


def _reason(error: Exception) -> str:
    """In one line; a disk that is full gives up its reserve, so that this line can be written."""
    plain = " ".join(str(error).split()) or type(error).__name__
    full = disk.behind(error)
    if full is None:
        return f"paused: the database does not take its events ({plain}). Nothing is lost; resume when it is well again."
    disk.release()
    return f"paused: {full} ({plain}). Nothing is lost; resume when there is room again."
