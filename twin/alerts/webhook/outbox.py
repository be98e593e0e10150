"""The outbox: notices that are to be sent, when each is tried again, and when it is given up."""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from twin.alerts.base import names, rule_class, sentence
from twin.alerts.webhook import receiver
from twin.alerts.webhook.receiver import Receiver
from twin.models import Alert, AlertNotice

log = logging.getLogger(__name__)
FIRST_AGAIN_S, MAX_AGAIN_S = 5.0, 1_800.0  # until the second attempt; it doubles with each further one
GIVEN_UP = timedelta(days=1)  # after the event
REPORTED = timedelta(days=7)  # for which a notice that was given up is counted
TURN_S = 20.0  # of one delivery, so that a worker is not held by a slow receiver
TO_SEND = Q(delivered_at=None, given_up_at=None)


def add(alert: Alert, event: str, now: datetime) -> None:
    """Notice stored in the transaction of its event; none without a receiver."""
    if settings.ALERT_WEBHOOK_URL:
        AlertNotice.objects.get_or_create(
            alert=alert, event=event, defaults={"body": _body(alert, event, now), "made_at": now, "next_at": now}
        )


def _body(alert: Alert, event: str, now: datetime) -> dict[str, Any]:
    """The notice without its key, as docs/alerts.md describes it."""
    return {
        "event": event,
        "at": now.isoformat(),
        "alert": {
            "id": alert.pk,
            "rule": alert.rule,
            "title": rule_class(alert.rule).title if alert.rule in names() else alert.rule,
            "level": alert.level,
            "code": alert.code,
            "sentence": sentence(alert.rule, alert.code, alert.values),
            "target": alert.target,
            "subject": alert.subject,
            "values": alert.values,
            "run": alert.run_id,
            "began_at": alert.began_at.isoformat(),
            "began_ms": alert.began_ms,
            "ended_at": None if alert.ended_at is None else alert.ended_at.isoformat(),
            "ending": alert.ending,
        },
    }


def due(now: datetime | None = None) -> bool:
    """True if a notice is to be sent now."""
    return AlertNotice.objects.filter(TO_SEND, next_at__lte=now or timezone.now()).exists()


def deliver(to: Receiver, turn_s: float = TURN_S, limit_s: float = receiver.MAX_S) -> int:
    """Delivery of what is due, the oldest first; number of notices that were accepted.

    A receiver that fails ends the turn, and all notices wait until its next attempt. A notice that it refuses waits
    alone.
    """
    until, accepted = time.monotonic() + turn_s, 0
    tried: list[int] = []
    while time.monotonic() < until:
        waiting = AlertNotice.objects.filter(TO_SEND, next_at__lte=timezone.now()).exclude(pk__in=tried)
        notice = waiting.order_by("id").first()
        if notice is None:
            break
        tried.append(notice.pk)
        answer = receiver.post(to, str(notice.key), body_of(notice), limit_s)
        now = timezone.now()
        if not answer.error:
            accepted += 1
            AlertNotice.objects.filter(pk=notice.pk).update(delivered_at=now, attempts=F("attempts") + 1, error="")
            continue
        _fail(notice, answer.error, now)
        if answer.busy:
            AlertNotice.objects.filter(TO_SEND, next_at__lt=notice.next_at).update(next_at=notice.next_at)
            break
    return accepted


def body_of(notice: AlertNotice) -> bytes:
    """The body that is sent and signed."""
    return orjson.dumps({"id": str(notice.key), **notice.body}, option=orjson.OPT_SORT_KEYS)


def _fail(notice: AlertNotice, error: str, now: datetime) -> None:
    """Failed attempt: the next one is later each time, and a day after the event there is none."""
    again_s = min(MAX_AGAIN_S, FIRST_AGAIN_S * 2 ** min(notice.attempts, 20))
    notice.next_at = now + timedelta(seconds=again_s)
    fields: dict[str, Any] = {"attempts": F("attempts") + 1, "error": error, "next_at": notice.next_at}
    if now - notice.made_at > GIVEN_UP:
        fields["given_up_at"] = now
        log.error("the notice %s of alert %s was dropped: %s", notice.event, notice.alert_id, error)
    AlertNotice.objects.filter(pk=notice.pk).update(**fields)


def state() -> dict[str, Any]:
    """{receiver, signed, problem, waiting, given_up, delivered_at, next_at, error} for pages; no secret."""
    try:
        to, problem = receiver.configured(), ""
    except ValueError as error:
        to, problem = None, str(error)
    newest = AlertNotice.objects.exclude(delivered_at=None).order_by("-delivered_at").first()
    waiting = AlertNotice.objects.filter(TO_SEND)
    failing = waiting.exclude(error="").order_by("-next_at").first()
    return {
        "receiver": None if to is None else to.shown,
        "signed": bool(settings.ALERT_WEBHOOK_SECRET),
        "problem": problem,
        "waiting": waiting.count(),
        "given_up": AlertNotice.objects.filter(given_up_at__gte=timezone.now() - REPORTED).count(),
        "delivered_at": None if newest is None else newest.delivered_at,
        "next_at": None if failing is None else failing.next_at,
        "error": "" if failing is None else failing.error,
    }
