"""Start of templates: the scenario that is there already, or a new one, and new runs of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

import twin.studies.gallery
from scheduling.kernel.registry import Unavailable, obstacle
from twin.infra.menu import Menu
from twin.models import ClusterSpec, Run, Scenario, home_of
from twin.runs import commands
from twin.scenarios.store import check, store_generated
from twin.studies import races
from twin.studies.gallery.base import Template

MENU: Menu[Template] = Menu("template", twin.studies.gallery, Template)


@cache
def templates() -> tuple[type[Template], ...]:
    """All templates: days of a cluster first, then the experiments of papers."""
    return tuple(sorted((MENU.named(name) for name in MENU.names()), key=lambda one: (bool(one.rivals), one.title)))


def missing(template: type[Template]) -> str:
    """Reason why a template cannot start, if one of its schedulers is missing; empty if it can."""
    return "; ".join(filter(None, map(obstacle, (template.scheduler, *template.rivals))))


def start(name: str, user: Any) -> tuple[Scenario, list[Run]]:
    """Queued runs of a template: one, or one per scheduler of its race. UnknownName lists the templates."""
    template = MENU.named(name)
    if reason := missing(template):
        raise Unavailable(reason)
    with transaction.atomic():
        get_user_model().objects.select_for_update().get(pk=user.pk)  # two clicks do not make two scenarios
        scenario = _scenario(template, user)
        if template.rivals:
            return scenario, races.race(scenario, (template.scheduler, *template.rivals), user)
        return scenario, [commands.start_run(scenario, user=user)]


def _scenario(template: type[Template], user: Any) -> Scenario:
    """The scenario of the template that nobody has edited since; a new one if there is none."""
    source = f"template {template.title}"
    team = home_of(user)
    inputs = ClusterSpec.objects.filter(source=source, trace__isnull=False, team=team)
    same = {
        "name": template.title, "scheduler": template.scheduler, "parameters": dict(template.parameters),
        "seed": template.seed, "edits": [dict(edit) for edit in template.edits], "team_id": team,
    }  # fmt: skip
    known = Scenario.objects.filter(**same, cluster__in=inputs, fork_ms=None, unlisted=False).order_by("pk").first()
    if known:
        return known
    spec = inputs.select_related("trace").order_by("pk").first()
    trace = spec.trace if spec else None
    if spec is None or trace is None:
        spec, trace = store_generated(template.title, *template.workload(), template.seed, team)
        spec.source = source
        spec.save(update_fields=["source"])
    made = Scenario.objects.create(**same, cluster=spec, trace=trace, created_by=user)
    check(made, made.edits)
    return made
