"""Permissions of plans on a cluster: the level, whose jobs a plan may change, the stop of all plans, the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from twin.models import ActingRule, AuditEntry, Connection

OBSERVE, PROPOSE, ORDER, PLACE = ActingRule.OBSERVE, ActingRule.PROPOSE, ActingRule.ORDER, ActingRule.PLACE
MAX_JOBS = 1_000
MAX_NAMES = 200  # queues or accounts of an allow list
ACTOR_SILENT_S = 10.0  # an acting process without a sign of life for this long does not run


class Level(NamedTuple):
    """A level of permission."""

    name: str
    about: str


LEVELS = (
    Level("observe", "The twin only observes; there are no plans."),
    Level("propose", "Plans are shown as changes and commands; nothing is sent."),
    Level("order", "An approved plan may change the order of waiting jobs through their nice values."),
    Level("place", "An approved plan may also set begin times, which expire, and required nodes."),
)


def of(connection: Connection) -> ActingRule:
    """The rule; one that was never changed observes only."""
    return ActingRule.objects.filter(connection=connection).first() or ActingRule(connection=connection)


def change(connection: Connection, values: dict[str, Any], user: Any = None) -> ActingRule:
    """Change of level, queues, accounts, max_jobs and calibrated; ValueError names the field."""
    for name, value in values.items():
        if why := _why_not(name, value):
            raise ValueError(why)
    with transaction.atomic():
        rule, _ = ActingRule.objects.select_for_update().get_or_create(connection=connection)
        changed = [name for name, value in values.items() if getattr(rule, name) != value]
        for name in changed:
            setattr(rule, name, values[name])
        if changed:
            rule.save(update_fields=changed)
            _record(connection, "change", {name: values[name] for name in changed}, user)
    return rule


def stop(connection: Connection, stopped: bool, user: Any = None) -> ActingRule:
    """Stop of all plans: nothing more is sent, and the changes of open plans are undone; False allows plans again."""
    with transaction.atomic():
        rule, _ = ActingRule.objects.select_for_update().get_or_create(connection=connection)
        if rule.stopped != stopped:
            rule.stopped, rule.stopped_at = stopped, timezone.now() if stopped else None
            rule.stopped_by = user if stopped and getattr(user, "pk", None) else None
            rule.save(update_fields=["stopped", "stopped_at", "stopped_by"])
            _record(connection, "stop" if stopped else "release", {}, user)
    return rule


def stop_file() -> Path:
    """File that stops all plans on this host while it exists, whatever the database says."""
    return Path(settings.VAR_DIR) / "acting.stop"


def why_stopped(rule: ActingRule) -> str:
    """Reason why plans are stopped; "" while they are not."""
    if stop_file().exists():
        return f"all plans are stopped by the file {stop_file()}; remove it to allow plans"
    return "all plans are stopped; an approver can allow them again" if rule.stopped else ""


def actor_running(rule: ActingRule) -> bool:
    """True if an acting process has given a sign of life."""
    return rule.actor_at is not None and abs((timezone.now() - rule.actor_at).total_seconds()) < ACTOR_SILENT_S


def _why_not(name: str, value: Any) -> str:
    if name == "level":
        names = ", ".join(f"{number} ({level.name})" for number, level in enumerate(LEVELS))
        return "" if value in range(len(LEVELS)) else f"level must be one of {names}, got {value!r}"
    if name == "max_jobs":
        fine = isinstance(value, int) and 1 <= value <= MAX_JOBS
        return "" if fine else f"max_jobs must be 1 to {MAX_JOBS:,}, got {value!r}"
    if name in ("queues", "accounts"):
        fine = isinstance(value, list) and len(value) <= MAX_NAMES
        fine = fine and all(isinstance(one, str) and 0 < len(one) <= 200 for one in value)
        return "" if fine else f"{name} must be a list of at most {MAX_NAMES:,} names"
    if name == "calibrated":
        return "" if isinstance(value, bool) else f"calibrated must be true or false, got {value!r}"
    return f"unknown field {name!r}; known: level, queues, accounts, max_jobs, calibrated"


def _record(connection: Connection, verb: str, detail: dict[str, Any], user: Any) -> None:
    AuditEntry.objects.create(
        user=user if getattr(user, "pk", None) else None, action=f"acting.{verb}",
        subject=f"connection {connection.name}", detail={"name": connection.name, **detail},
    )  # fmt: skip
