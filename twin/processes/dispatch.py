"""Dispatch of tasks by name, without an import of their code."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from celery import current_app, group
from kombu.exceptions import OperationalError as BrokerError

log = logging.getLogger(__name__)


def send(task: str, key: int, *, queue: str, expires: float | None = None) -> bool:
    """Request for twin.tasks.<task>(key), enqueued once; False if it failed, as when no broker is available."""
    try:
        current_app.send_task(f"twin.tasks.{task}", (key,), queue=queue, retry=False, expires=expires)
    except (BrokerError, OSError) as error:
        log.warning("%s of %s: not accepted by the broker: %s", task, key, error)
        return False
    return True


def send_all(task: str, keys: Sequence[int], *, queue: str, expires: float | None = None) -> bool:
    """Requests for a task with several keys, enqueued as one group; free workers run them in parallel."""
    options = {"queue": queue, "retry": False, "expires": expires}
    try:
        group(current_app.signature(f"twin.tasks.{task}", args=(key,)).set(**options) for key in keys).apply_async()
    except (BrokerError, OSError) as error:
        log.warning("%s of %s: not accepted by the broker: %s", task, ", ".join(map(str, keys)), error)
        return False
    return True
