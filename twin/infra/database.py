"""Check of the database by a write; and the time since when it is locked, shared by all processes."""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import UTC, datetime
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from twin.infra import pubsub
from twin.models import Run

WAIT_SETTINGS = {"sqlite": "PRAGMA busy_timeout", "postgresql": "SET lock_timeout"}  # in ms
LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code
WAIT_S = 1.0  # for a lock; a writer usually holds it for some ms
CHECK_S = 1.0
LOCKED_SINCE = "twin:locked-since"  # key: wall clock, in seconds
WRITE_WAIT = "twin:write-wait"  # key: seconds
WAITS = range(60, 600)  # writes from which the wait is known, and newest writes of which it is the 95th percentile


def lock_wait_s() -> float:
    """Seconds for which a statement of this process waits for a lock before it fails."""
    return float(settings.DATABASE_LOCK_WAIT_S)


def limit_wait(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Limit of the waits of a new connection, as its receiver of connection_created."""
    with connection.cursor() as cursor:
        _set_wait(cursor, lock_wait_s())


def is_lock(error: Exception) -> bool:
    """True if a statement failed because another process held the database, or a table or row, for too long."""
    if not isinstance(error, OperationalError):
        return False
    return getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE or "locked" in str(error)


def fault() -> Exception | None:
    """Reason why the database takes no write at this moment."""
    try:
        with connection.cursor() as cursor:
            _set_wait(cursor, WAIT_S)
            try:
                with transaction.atomic():
                    Run.objects.filter(pk=-1).update(message="")  # takes the lock and changes nothing
            finally:
                _set_wait(cursor, lock_wait_s())
    except (DatabaseError, InterfaceError) as error:
        return error
    return None


def locked_since() -> datetime | None:
    """Start of the lock of the database, as found by the ticker (LockWatch); None if unlocked or unknown."""
    try:
        value = pubsub.client().get(LOCKED_SINCE)
    except (redis.RedisError, OSError):
        return None
    return datetime.fromtimestamp(float(value), UTC) if value else None


def write_wait_s() -> float | None:
    """Time that a write takes, as measured by the ticker (LockWatch); None while it is not known."""
    try:
        value = pubsub.client().get(WRITE_WAIT)
    except (redis.RedisError, OSError):
        return None
    return float(value) if value else None


class LockWatch:
    """Thread that tries a write every second, and publishes how long it takes and the start of a lock."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.waits: deque[float] = deque(maxlen=WAITS.stop)

    def start(self) -> LockWatch:
        threading.Thread(target=self._run, name="lock-watch", daemon=True).start()
        return self

    @property
    def locked(self) -> bool:
        return self.since is not None

    def check(self) -> None:
        """One check."""
        began, clock = time.time(), time.monotonic()
        error = fault()
        self.waits.append(time.monotonic() - clock)
        was, self.since = self.since, (self.since or began) if error is not None and is_lock(error) else None
        try:
            if len(self.waits) >= WAITS.start:
                place = 95 * len(self.waits) // 100
                pubsub.client().set(WRITE_WAIT, sorted(self.waits)[place], ex=WAITS.stop)
            if self.since is not None:
                pubsub.client().set(LOCKED_SINCE, self.since, ex=10)  # the key expires when the ticker ends
            elif was is not None:
                pubsub.client().delete(LOCKED_SINCE)
        except (redis.RedisError, OSError):
            pass

    def _run(self) -> None:
        while True:
            self.check()
            connection.close()
            time.sleep(CHECK_S)


def _set_wait(cursor: CursorWrapper, seconds: float) -> None:
    """Limit of the waits for locks of the connection of the cursor."""
    setting = WAIT_SETTINGS.get(cursor.db.vendor)
    if setting is not None:
        cursor.execute(f"{setting} = {round(seconds * 1000)}")
