"""Words for what still uses an object that cannot be deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Model

from dashboard.auth.visible import visible
from twin.models import Run, Scenario, Sweep, SweepPoint

MAX_SHOWN = 5  # numbers of each type
NOUNS: dict[type[Model], str] = {Scenario: "scenario", Run: "run", Sweep: "sweep"}
NAMES = {Scenario: ("pk", "name"), Run: ("pk",), Sweep: ("pk", "name")}  # fields by which lists show them


def used_by(objects: Iterable[Model], user: Any) -> str:
    """Numbers as in the addresses of pages, with names: 'scenarios 1 (Demo), 2 (Edge) and run 3'.

    A sweep stands for its own scenarios. Objects that the user does not see are not named.
    """
    found: dict[type[Model], set[int]] = {model: set() for model in NOUNS}
    others: set[str] = set()
    for one in objects:
        if type(one) in found:
            found[type(one)].add(one.pk)
        else:
            others.add(f"a {type(one)._meta.verbose_name}")
    _sweeps_for_their_scenarios(found)
    parts = []
    for model, noun in NOUNS.items():
        objects_of = visible(model._default_manager.filter(pk__in=found[model]), user)
        seen = [_named(*fields) for fields in objects_of.order_by("pk").values_list(*NAMES[model])]
        if seen:
            parts.append(_listed(noun, seen))
        if len(seen) < len(found[model]):
            others.add(f"a {noun} of another team")
    return " and ".join([*parts, *sorted(others)])


def _sweeps_for_their_scenarios(found: dict[type[Model], set[int]]) -> None:
    scenarios = SweepPoint.objects.filter(run__scenario__in=found[Scenario], run__scenario__unlisted=True)
    for scenario, sweep in scenarios.values_list("run__scenario_id", "sweep_id"):
        found[Scenario].discard(scenario)
        found[Sweep].add(sweep)


def _named(number: int, name: str = "") -> str:
    return f"{number} ({name})" if name else str(number)


def _listed(noun: str, names: list[str]) -> str:
    more = len(names) - MAX_SHOWN
    shown = ", ".join(names[:MAX_SHOWN])
    return f"{noun}{'s' if len(names) > 1 else ''} {shown}{f' and {more:,} more' if more > 0 else ''}"
