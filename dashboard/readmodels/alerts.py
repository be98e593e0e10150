"""Alerts as pages show them: in words, with the page that shows more, and those of one run."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from twin.alerts import evaluation, targets
from twin.alerts.base import BATCH, SERIOUS, Finding, names, rule_class, sentence
from twin.alerts.seeing import TargetFacts
from twin.models import Alert, AlertRule, Run

CLUSTER = "connection "  # before the name of a live cluster in the target of an alert


def title(rule: str) -> str:
    """Title of a rule; its name where this version has none of that name."""
    return rule_class(rule).title if rule in names() else rule


def address(rule: str, target: str, run_id: int | None, values: dict[str, Any]) -> str:
    """The page that shows more about a finding: of a server, a job, a live cluster or a run; "" without one."""
    noun, _, name = target.partition(" ")
    page = rule_class(rule).page if rule in names() else ""
    if noun == "connection" and page in ("fidelity", "shadows", "plans"):
        return f"/live/{name}/{page}/"
    if run_id is not None and "server" in values:
        return f"/runs/{run_id}/servers/{values['server']}/"
    if run_id is not None and "job" in values:
        return f"/runs/{run_id}/?job={values['job']}"
    if noun == "connection":
        return f"/live/{name}/"
    return "" if run_id is None else f"/runs/{run_id}/"


def attention(run: Run) -> list[dict[str, Any]]:
    """[{alert, level, rule, sentence, address, began_at, acknowledged, found}] of a run, the serious ones first.

    They are the open alerts of the run, or of the cluster that it mirrors, with the values that their rules find at the
    newest time of the run. If the finding of an alert is absent at that time, found is false, and the sentence states
    the last values that were found. If its rule is switched off or cannot be checked, the sentence also states the
    last values, but found is true. For a run that has ended or is not a live run, the findings at its newest time of
    the rules that are not checked for it in the background are added, unless they have an open alert, with null for
    alert and began_at.
    """
    target = targets.of_run(run)
    alerts = list(Alert.objects.filter(target=target.name, ended_at=None).order_by("id"))
    present = evaluation.found_now(TargetFacts(target), target, alerts) if alerts else {}
    rows = []
    for alert in alerts:
        last = Finding(alert.code, alert.values)
        found = present.get(alert.pk, last)
        rows.append(_point(alert.rule, target.name, alert.level, run.pk, found or last, alert, found is not None))
    if not targets.is_watched(target):
        named = {(alert.rule, alert.subject) for alert in alerts}  # of a run that has just ended they are still open
        rows += [
            _point(rule.rule, target.name, rule.level, run.pk, finding, None)
            for rule, finding in evaluation.findings_now(TargetFacts(target), target)
            if not _is_stored(rule) and (rule.rule, finding.subject) not in named
        ]
    return sorted(rows, key=lambda row: row["level"] != SERIOUS)


def elsewhere(run: Run, among: QuerySet[Alert]) -> list[dict[str, Any]]:
    """The same of the open alerts among these about other live clusters, without those that were acknowledged.

    cluster: its name. The sentence states the last values that were found.
    """
    others = among.filter(ended_at=None, acknowledged_at=None, target__startswith=CLUSTER)
    rows = []
    for alert in others.exclude(target=targets.of_run(run).name).order_by("id"):
        finding = Finding(alert.code, alert.values)
        point = _point(alert.rule, alert.target, alert.level, alert.run_id, finding, alert, alert.absent_at is None)
        rows.append(point | {"cluster": alert.target.removeprefix(CLUSTER)})
    return sorted(rows, key=lambda row: row["level"] != SERIOUS)


def _is_stored(rule: AlertRule) -> bool:
    """The rule is also checked for batch runs in the background."""
    return BATCH in rule_class(rule.rule).about


def _point(
    rule: str, target: str, level: str, run_id: int | None, finding: Finding, alert: Alert | None, found: bool = True
) -> dict[str, Any]:
    return {
        "alert": None if alert is None else alert.pk,
        "level": level,
        "rule": rule,
        "sentence": sentence(rule, finding.code, finding.values),
        "address": address(rule, target, run_id, finding.values),
        "began_at": None if alert is None else alert.began_at,
        "acknowledged": alert is not None and alert.acknowledged_at is not None,
        "found": found,
    }


def open_counts(among: QuerySet[Alert]) -> dict[str, int]:
    """{level: number of open alerts among these}, without those that were acknowledged."""
    found = {"serious": 0, "notable": 0}
    for level in among.filter(ended_at=None, acknowledged_at=None).values_list("level", flat=True):
        found[level] = found.get(level, 0) + 1
    return found
