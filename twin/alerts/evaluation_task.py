"""The evaluation as a task: requested by the ticker every few seconds, by one worker at a time."""

from __future__ import annotations

import logging
import time

from celery.exceptions import SoftTimeLimitExceeded

from twin.alerts import evaluation
from twin.models import AlertWork
from twin.processes.dispatch import send
from twin.runs import lease

log = logging.getLogger(__name__)
QUEUE = "io"
EVERY_S = 5.0
ASKED_S = 20.0  # a request that no worker accepted for this long has expired
MAX_SOFT_S, MAX_S = 30, 45  # of one evaluation, whose own budget is much less; the worker is replaced after it
BUSY_S = 60.0  # after which a worker that has not reported back is taken for gone


class Requests:
    """Time of the last request for an evaluation."""

    def __init__(self) -> None:
        self.when = float("-inf")

    def refresh(self) -> bool:
        """Request for an evaluation if one is due."""
        now = time.monotonic()
        if now - self.when < EVERY_S:
            return False
        self.when = now
        return send("evaluate_alerts", 0, queue=QUEUE, expires=ASKED_S)


def work() -> None:
    """One evaluation, unless a worker is at it."""
    AlertWork.objects.get_or_create(pk=1)
    now = time.time()
    mine = now + BUSY_S
    free = AlertWork.objects.filter(lease.free("evaluating_until", now, BUSY_S), pk=1)
    if not free.update(evaluating_until=mine):
        return
    try:
        evaluation.evaluate()
    except SoftTimeLimitExceeded:
        log.error("the evaluation of alerts was stopped after %s s; the next one continues", MAX_SOFT_S)
    finally:
        AlertWork.objects.filter(pk=1, evaluating_until=mine).update(evaluating_until=0)
