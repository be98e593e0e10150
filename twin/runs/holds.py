"""Holds: runs that wait because the database does not accept their events (locked, disk full).

A hold is stored with the run if the database accepts that. A lock, on which the worker would only wait, is noted in the
broker, and the ticker stores it as soon as it can. The ticker requests a held run like any other that waits: it
continues by itself, and states what happened.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import redis
from django.db import DatabaseError, connection
from django.db.models import F
from django.utils import timezone

from twin.eventlog import frames
from twin.infra import database, disk, pubsub
from twin.models import AuditEntry, Run
from twin.runs.activity import NOTHING_LOST, WAITS

log = logging.getLogger(__name__)
NOTED = "twin:holds"  # hash: run id -> [reason, since when (wall clock)]
SHORT_S = 3.0  # shorter writes are not reported as holds


def hold(run_id: int, error: Exception) -> None:
    """Hold of the run with its reason, in the database if possible, otherwise noted for `write_noted`."""
    locked = database.is_lock(error)
    since = timezone.now() - timedelta(seconds=database.lock_wait_s() if locked else 0)
    reason = _reason(error)
    connection.close()
    if locked and _note(run_id, reason, since):
        return
    if not write(run_id, reason, since) and not _note(run_id, reason, since):
        log.warning("run %s: its wait could not be recorded; its lease will expire", run_id)


def write(run_id: int, reason: str, since: datetime) -> bool:
    """Write of the hold, which takes the run from its worker; False if the database does not accept it."""
    try:
        run = Run.objects.get(pk=run_id)
        Run.objects.filter(pk=run_id, status__in=Run.ACTIVE).update(
            status=Run.QUEUED, message=reason[:1000], held_since=min(since, run.held_since or since),
            epoch=F("epoch") + 1, lease_until=None, lease_owner="",
        )  # fmt: skip
        run.refresh_from_db()
    except Run.DoesNotExist:
        return True
    except DatabaseError as error:
        log.warning("run %s: its wait could not be written yet: %s", run_id, error)
        connection.close()
        return False
    pubsub.announce(run, frames.status(run))
    return True


def _note(run_id: int, reason: str, since: datetime) -> bool:
    """Note of the hold in the broker, published before it is in the database."""
    try:
        client = pubsub.client()
        client.hsetnx(NOTED, str(run_id), orjson.dumps([reason, since.timestamp()]))
        run = Run.objects.get(pk=run_id)
        run.status, run.message, run.held_since = Run.QUEUED, reason, since
        pubsub.announce(run, frames.status(run))
    except Run.DoesNotExist:
        pass
    except (redis.RedisError, DatabaseError, OSError) as error:
        log.warning("run %s: its wait could not be recorded: %s", run_id, error)
        return False
    return True


def late(run: Run, since: datetime, reason: str) -> None:
    """Hold of a run after the fact: nothing worked on it, or its write took that long. `release` reports it."""
    if run.held_since is None:
        run.held_since, run.message = since, f"{WAITS}{reason}{NOTHING_LOST}"


def late_write(run: Run, seconds: float) -> None:
    """Hold of a write that took `seconds`, if that is long."""
    if seconds >= SHORT_S:
        late(
            run,
            timezone.now() - timedelta(seconds=seconds),
            f"the database took {seconds:.0f} s for one write because of a lock",
        )


def recall(run: Run) -> None:
    """A hold of the run that is noted and not yet written: it goes on before the ticker came to it."""
    try:
        noted = pubsub.client().hget(NOTED, str(run.pk))
    except (redis.RedisError, OSError):
        return
    if noted is not None and _claim(run.pk):
        reason, since = _decoded(noted)
        run.held_since, run.message = min(since, run.held_since or since), reason


def release(run: Run) -> dict[str, Any]:
    """Fields of a held run that continues, because its events were written; the audit list records the hold."""
    assert run.held_since is not None
    seconds = round((timezone.now() - run.held_since).total_seconds(), 1)
    reason = run.message.removeprefix(WAITS).removesuffix(NOTHING_LOST)
    clock = {"clock_ms": run.clock_sim_ms} if run.mode_rules.paced else {}  # it did not advance
    AuditEntry.objects.create(
        action="run.held", subject=f"run {run.pk}", detail={"seconds": seconds, "reason": reason} | clock
    )
    word = "started" if run.started_at is None else "resumed"
    return {"held_since": None, "message": f"{word} after {seconds:g} s: {reason}"}


def write_noted() -> list[int]:
    """Write of the noted holds that the database accepts now; their runs."""
    try:
        noted = pubsub.client().hgetall(NOTED)
    except (redis.RedisError, OSError):
        return []
    written = []
    for key, value in noted.items():
        run_id, (reason, since) = int(key), _decoded(value)
        if not _claim(run_id):
            continue
        if write(run_id, reason, since):
            written.append(run_id)
        else:
            pubsub.client().hsetnx(NOTED, str(run_id), value)
    return written


def _claim(run_id: int) -> bool:
    """Removal of a noted hold from the list; False if another process has taken it."""
    return bool(pubsub.client().hdel(NOTED, str(run_id)))


def _decoded(value: bytes) -> tuple[str, datetime]:
    reason, since = orjson.loads(value)
    return reason, datetime.fromtimestamp(since, UTC)


def _reason(error: Exception) -> str:
    """Reason in one line; on a full disk the reserve is released, so that this line can be written."""
    plain = " ".join(str(error).split()) or type(error).__name__
    full = disk.behind(error)
    if full is not None:
        disk.release()
    return f"{WAITS}{full or 'the database does not accept its events'} ({plain}){NOTHING_LOST}"
