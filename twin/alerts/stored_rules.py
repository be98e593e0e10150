"""Stored rules: defaults, those that apply to a target, and their changes, each an entry of the audit list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError, shorten
from twin.alerts.base import CLUSTER, LEVELS, build, names, rule_class
from twin.alerts.targets import about_of
from twin.infra.errors import Refused
from twin.mirror.connecting.errors import FieldError
from twin.models import AlertRule, AuditEntry, Connection, Run

EVERYTHING = ""  # the target of a rule for all
MAX_CLEAR_S = 86_400


def ensure_defaults() -> None:
    """One rule of each name for everything; those that exist stay as they are."""
    there = set(AlertRule.objects.filter(target=EVERYTHING).values_list("rule", flat=True))
    missing = [name for name in names() if name not in there]
    made = [AlertRule(rule=name, level=rule_class(name).level, parameters=_defaults(name)) for name in missing]
    if made:
        AlertRule.objects.bulk_create(made, ignore_conflicts=True)


def _defaults(name: str) -> dict[str, Any]:
    return asdict(rule_class(name).Parameters())


def applying(rules: Iterable[AlertRule], target: str) -> list[AlertRule]:
    """The rules that apply to the target: one of its own replaces that for everything, also to switch it off."""
    chosen: dict[str, AlertRule] = {}
    for rule in rules:
        if rule.target == target or (rule.target == EVERYTHING and rule.rule not in chosen):
            chosen[rule.rule] = rule
    return [rule for rule in chosen.values() if rule.enabled]


def create(
    values: Mapping[str, Any], user: Any = None,
    connections: QuerySet[Connection] | None = None, runs: QuerySet[Run] | None = None,
) -> AlertRule:  # fmt: skip
    """A rule for one target, of its team; FieldError names the field. connections, runs: those that the user sees."""
    name, target = _checked_name(values["rule"]), values["target"]
    checked = _checked(name, {"parameters": {}, **values})
    team = _check_target(
        name, target,
        Connection.objects.all() if connections is None else connections, Run.objects.all() if runs is None else runs,
    )  # fmt: skip
    try:
        with transaction.atomic():
            made = AlertRule(**{"level": rule_class(name).level, **checked}, rule=name, target=target, created_by=user)
            made.settle(team)
            made.save()
            _record(user, "create", made, _described(checked))
    except IntegrityError as error:
        raise FieldError("target", f"{target} already has a rule {name}; change that one") from error
    return made


def change(rule: AlertRule, values: Mapping[str, Any], user: Any = None) -> AlertRule:
    """Another level, other thresholds; omitted fields keep their values. FieldError names the field."""
    checked = _checked(rule.rule, values, rule.parameters)
    changed = {name: value for name, value in checked.items() if getattr(rule, name) != value}
    if changed:
        with transaction.atomic():
            for name, value in changed.items():
                setattr(rule, name, value)
            rule.save(update_fields=list(changed))
            _record(user, "change", rule, _described(changed))
    return rule


def remove(rule: AlertRule, user: Any = None) -> None:
    """Removal of the rule of a target; that for everything applies to it again."""
    if rule.target == EVERYTHING:
        raise Refused(f"the rule {rule.rule} applies to all targets and cannot be removed; switch it off instead")
    with transaction.atomic():
        _record(user, "delete", rule, {})
        rule.delete()


def _checked(name: str, values: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Fields of a rule from values that were given."""
    found: dict[str, Any] = {}
    if "parameters" in values:
        found["parameters"] = _checked_parameters(name, values["parameters"], before or {})
    if "level" in values:
        if values["level"] not in LEVELS:
            raise FieldError("level", f"level must be one of {', '.join(LEVELS)}, got {shorten(repr(values['level']))}")
        found["level"] = values["level"]
    if "clear_s" in values:
        if not 0 <= values["clear_s"] <= MAX_CLEAR_S:
            raise FieldError("clear_s", f"clear_s must be 0 to {MAX_CLEAR_S:,} s, got {values['clear_s']:,}")
        found["clear_s"] = values["clear_s"]
    if "enabled" in values:
        found["enabled"] = values["enabled"]
    return found


def _checked_parameters(name: str, given: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in before.items() if key in _defaults(name)}
    try:
        return asdict(build(name, {**kept, **given}).parameters)
    except (ModelError, UnknownName) as error:
        named = next((key for key in given if re.search(rf"\b{re.escape(key)}\b", str(error))), None)
        raise FieldError(f"parameters.{named}" if named else "parameters", str(error)) from error


def _checked_name(name: str) -> str:
    try:
        return rule_class(name).name
    except UnknownName as error:
        raise FieldError("rule", str(error)) from error


def _check_target(name: str, target: str, connections: QuerySet[Connection], runs: QuerySet[Run]) -> int | None:
    """The team of the target; FieldError unless it exists and the rule is about its kind."""
    noun, _, key = target.partition(" ")
    runs = runs.select_related("scenario")
    if noun == "connection" and (connection := connections.filter(name=key).first()) is not None:
        about, team = CLUSTER, connection.team_id
    elif noun == "run" and key.isdecimal() and (run := runs.filter(pk=int(key)).first()) is not None:
        team = run.scenario.team_id
        if run.mode_rules.recorded:
            raise FieldError("target", f"{target} mirrors a live cluster; name its connection: connection NAME")
        about = about_of(run)
    else:
        rule = "target must be an existing `connection NAME` or `run NUMBER`"
        raise FieldError("target", f"{rule}, got {shorten(repr(target))}")
    possible = rule_class(name).about
    if about not in possible:
        raise FieldError("target", f"the rule {name} applies to {_kinds(possible)}; {target} is {_kinds((about,))}")
    return team


def _kinds(about: Iterable[str]) -> str:
    words = {"cluster": "a live cluster", "run": "a live run", "batch": "a batch run"}
    return " or ".join(words[kind] for kind in about)


def _described(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Changed fields for the audit list, each threshold beside the others."""
    parameters = changed.get("parameters", {})
    return {**{name: value for name, value in changed.items() if name != "parameters"}, **parameters}


def _record(user: Any, verb: str, rule: AlertRule, detail: Mapping[str, Any]) -> None:
    AuditEntry.objects.create(
        user=user if getattr(user, "pk", None) else None, action=f"alert_rule.{verb}", subject=f"rule {rule.pk}",
        detail={"name": rule.rule, "target": rule.target or "everything", **detail},
    )  # fmt: skip
