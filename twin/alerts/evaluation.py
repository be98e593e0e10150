"""Evaluation: every rule is checked against every target, and what it found becomes open alerts.

All that follows from the findings about one target is written in one transaction: alerts, entries of the audit list and
notices. A worker that is killed leaves all of it or nothing, and the next evaluation finds the same again. A constraint
of the database allows one open alert of a rule, target and subject, whoever writes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, transaction
from django.utils import timezone

from twin.alerts import stored_rules, targets
from twin.alerts.base import MORE, Finding, Seen, build, rule_class, sentence
from twin.alerts.hysteresis import settled
from twin.alerts.seeing import TargetFacts
from twin.alerts.targets import Target
from twin.alerts.webhook import outbox
from twin.models import Alert, AlertNotice, AlertRule, AlertWork, AuditEntry
from twin.processes import vitals

log = logging.getLogger(__name__)
MAX_EVALUATION_S = 10.0  # of one evaluation; the targets that are left are first in the next one
MAX_FINDINGS = 50  # alerts of one rule about one target; the others are counted
KEPT_DAYS = 90  # of ended alerts
MAX_FORGOTTEN = 1_000  # at a time

Outcomes = Mapping[str, Sequence[Finding] | None]  # rule -> findings; None where it could not be checked


class Turn(NamedTuple):
    """Result of one evaluation."""

    watched: int
    left: int


def evaluate(budget_s: float = MAX_EVALUATION_S) -> Turn:
    """Check of all rules within the time; targets that were left the last time come first."""
    began, until = time.monotonic(), time.monotonic() + budget_s
    stored_rules.ensure_defaults()
    rules = list(AlertRule.objects.all())
    work = AlertWork.objects.get_or_create(pk=1)[0]
    watched = targets.watched()
    ordered = sorted(watched, key=lambda target: (target.name < work.next_target, target.name))
    errors: dict[int, str] = {}
    known = _Once()
    done = 0
    for target in ordered:
        if done and time.monotonic() > until:
            break
        done += 1
        applying = stored_rules.applying(rules, target.name)
        facts = TargetFacts(target, known)
        settle(target, facts.now_ms, applying, check(facts, target, applying, errors))
    _end_unwatched({target.name for target in watched})
    _store_errors(rules, errors, complete=done == len(ordered))
    before, now = work.evaluated_at, timezone.now()
    AlertWork.objects.filter(pk=1).update(
        evaluated_at=now, seconds=time.monotonic() - began, watched=len(ordered), left=len(ordered) - done,
        next_target=ordered[done].name if done < len(ordered) else "",
    )  # fmt: skip
    if before is None or before.hour != now.hour:
        _forget(now)
    return Turn(len(ordered), len(ordered) - done)


class _Once:
    """Vitals of the twin, taken when they are first needed."""

    def __init__(self) -> None:
        self.found: vitals.Vitals | None = None

    def __call__(self) -> vitals.Vitals:
        self.found = self.found or vitals.take()
        return self.found


def check(
    seen: Seen, target: Target, rules: Iterable[AlertRule], errors: dict[int, str]
) -> dict[str, Sequence[Finding] | None]:
    """Outcome of each rule that is about such a target; a rule that fails is noted in `errors` and stops no other."""
    found: dict[str, Sequence[Finding] | None] = {}
    for rule in rules:
        try:
            if target.about not in rule_class(rule.rule).about:
                continue
            found[rule.rule] = [_dated(one, target) for one in build(rule.rule, rule.parameters).check(seen)]
        except (DatabaseError, SoftTimeLimitExceeded):
            raise
        except Exception as error:
            found[rule.rule] = None
            errors[rule.pk] = f"{target.name}: {type(error).__name__}: {error}"[:500]
            if rule.error != errors[rule.pk]:  # once, not every few seconds
                log.exception("the alert rule %s cannot be checked for %s", rule.rule, target.name)
    return found


def _dated(finding: Finding, target: Target) -> Finding:
    """The finding; if it states a time of a run that counts from a moment of the real world, with that moment."""
    run = target.run
    if "since_ms" not in finding.values or run is None or run.epoch_ms is None:
        return finding
    return finding._replace(values=finding.values | {"epoch_ms": run.epoch_ms})


def findings_now(seen: Seen, target: Target) -> list[tuple[AlertRule, Finding]]:
    """Findings of all rules now about a target that is not watched; nothing is stored."""
    rules = stored_rules.applying(AlertRule.objects.all(), target.name)
    outcomes = check(seen, target, rules, {})
    return [(rule, one) for rule in rules for one in _limited(outcomes.get(rule.rule) or (), ())]


def found_now(seen: Seen, target: Target, alerts: Sequence[Alert]) -> dict[int, Finding | None]:
    """Current finding of each open alert, None if it is absent: {alert: finding}. Nothing is stored.

    Alerts whose rules are switched off or cannot be checked are left out.
    """
    wanted = {alert.rule for alert in alerts}
    rules = [rule for rule in stored_rules.applying(AlertRule.objects.all(), target.name) if rule.rule in wanted]
    present: dict[int, Finding | None] = {}
    for rule, findings in check(seen, target, rules, {}).items():
        if findings is None:
            continue
        of_rule = {alert.subject: alert.pk for alert in alerts if alert.rule == rule}
        by_subject = {finding.subject: finding for finding in _limited(findings, list(of_rule))}
        present |= {pk: by_subject.get(subject) for subject, pk in of_rule.items()}
    return present


def settle(target: Target, now_ms: int, rules: Iterable[AlertRule], outcomes: Outcomes) -> None:
    """Alerts of one target by the findings of its rules: opened, kept or ended."""
    now = timezone.now()
    stored = {rule.rule: rule for rule in rules}
    with transaction.atomic():
        open_now = Alert.objects.select_for_update().filter(target=target.name, ended_at=None)
        known = {(alert.rule, alert.subject): alert for alert in open_now}
        wanted: dict[tuple[str, str], Finding] = {}
        for name, findings in outcomes.items():
            kept = [subject for rule, subject in known if rule == name]
            wanted |= {(name, one.subject): one for one in _limited(findings or (), kept)}
        for key, finding in wanted.items():
            rule = stored[key[0]]
            if key in known:
                _keep(known[key], finding, rule.level, target)
            else:
                _open(target, now, now_ms, rule, finding)
        for key, alert in known.items():
            if key[0] not in outcomes:  # switched off, or not about this target any more
                _end(alert, now, Alert.OFF)
            elif key not in wanted:
                present = None if outcomes[key[0]] is None else False
                _await_end(alert, present, now, stored[key[0]].clear_s)


def _limited(findings: Sequence[Finding], kept: Sequence[str]) -> list[Finding]:
    """The first MAX_FINDINGS findings, those with an open alert first; the others become one, with their number."""
    if len(findings) <= MAX_FINDINGS:
        return list(findings)
    ordered = sorted(findings, key=lambda finding: finding.subject not in kept)
    more = Finding(MORE, {"findings": len(findings) - MAX_FINDINGS}, f"({MORE})")
    return [*ordered[:MAX_FINDINGS], more]


def _open(target: Target, now: datetime, now_ms: int, rule: AlertRule, finding: Finding) -> None:
    alert, made = Alert.objects.get_or_create(
        rule=rule.rule, target=target.name, subject=finding.subject, ended_at=None,
        defaults={
            "run": target.run, "level": rule.level, "code": finding.code, "values": finding.values, "began_at": now,
            "began_ms": now_ms if target.run is not None else None, "quiet": targets.is_demo(target),
            "team_id": targets.team_of(target),
        },
    )  # fmt: skip
    if made:
        _tell("open", AlertNotice.OPENED, alert, now)


def _keep(alert: Alert, finding: Finding, level: str, target: Target) -> None:
    """Newest values of an alert whose finding is there; nothing is written where nothing has changed."""
    run_id = None if target.run is None else target.run.pk
    fields = {
        "code": finding.code, "values": finding.values, "level": level, "absent_at": None, "run_id": run_id,
    }  # fmt: skip
    changed = {name: value for name, value in fields.items() if getattr(alert, name) != value}
    if changed:
        Alert.objects.filter(pk=alert.pk).update(**changed)


def _await_end(alert: Alert, present: bool | None, now: datetime, clear_s: float) -> None:
    absent_at, over = settled(alert.absent_at, present, now, clear_s)
    if over:
        _end(alert, now, Alert.CLEARED)
    elif absent_at != alert.absent_at:
        Alert.objects.filter(pk=alert.pk).update(absent_at=absent_at)


def _end(alert: Alert, now: datetime, ending: str) -> None:
    if Alert.objects.filter(pk=alert.pk, ended_at=None).update(ended_at=now, ending=ending):
        alert.ended_at, alert.ending = now, ending
        _tell("end", AlertNotice.ENDED, alert, now)


def _end_unwatched(watched: set[str]) -> None:
    """End of alerts about what is not watched any more: ended runs, and clusters that are not followed."""
    if not Alert.objects.filter(ended_at=None).exclude(target__in=watched).exists():
        return
    with transaction.atomic():
        now = timezone.now()
        for alert in Alert.objects.select_for_update().filter(ended_at=None).exclude(target__in=watched):
            _end(alert, now, Alert.UNWATCHED)


def _tell(verb: str, event: str, alert: Alert, now: datetime) -> None:
    """Entry of the audit list, by the system, and a notice; neither of the demo."""
    if alert.quiet:
        return
    detail = {"name": sentence(alert.rule, alert.code, alert.values), "target": alert.target}
    detail |= {"ending": alert.ending} if alert.ending else {}
    AuditEntry.objects.create(action=f"alert.{verb}", subject=f"alert {alert.pk}", detail=detail)
    outbox.add(alert, event, now)


def _store_errors(rules: Iterable[AlertRule], errors: Mapping[int, str], complete: bool) -> None:
    """Errors of the rules; one that failed before is without error only after all targets were checked."""
    for rule in rules:
        error = errors.get(rule.pk, "" if complete else rule.error)
        if error != rule.error:
            AlertRule.objects.filter(pk=rule.pk).update(error=error)


def _forget(now: datetime) -> None:
    """Deletion of the oldest ended alerts after KEPT_DAYS, with their notices."""
    old = Alert.objects.filter(ended_at__lt=now - timedelta(days=KEPT_DAYS)).order_by("ended_at")
    Alert.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:MAX_FORGOTTEN])).delete()
