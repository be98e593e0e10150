"""Delivery as a task: requested by the ticker while notices are due, by one worker at a time."""

from __future__ import annotations

import logging
import time

from django.conf import settings

from twin.alerts.webhook import outbox, receiver
from twin.models import AlertWork
from twin.processes.dispatch import send
from twin.runs import lease

log = logging.getLogger(__name__)
QUEUE = "io"
ASKED_S = 5.0  # a request that no worker accepted for this long has expired
BUSY_S = 60.0  # more than a turn may take


class Requests:
    """Time of the last request for a delivery."""

    def __init__(self) -> None:
        self.when = float("-inf")

    def refresh(self) -> bool:
        """Request for a delivery if a notice is due."""
        now = time.monotonic()
        if not settings.ALERT_WEBHOOK_URL or now - self.when < ASKED_S or not outbox.due():
            return False
        self.when = now
        return send("deliver_alerts", 0, queue=QUEUE, expires=ASKED_S)


def work() -> None:
    """One turn of the delivery, unless a worker is at it. A worker that is killed repeats the notice it was at."""
    try:
        to = receiver.configured()
    except ValueError as error:
        log.error("alerts are not sent: %s", error)
        return
    if to is None:
        return
    AlertWork.objects.get_or_create(pk=1)
    now = time.time()
    mine = now + BUSY_S
    free = AlertWork.objects.filter(lease.free("delivering_until", now, BUSY_S), pk=1)
    if not free.update(delivering_until=mine):
        return
    try:
        outbox.deliver(to)
    finally:
        AlertWork.objects.filter(pk=1, delivering_until=mine).update(delivering_until=0)
