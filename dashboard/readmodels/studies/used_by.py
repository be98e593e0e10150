"""Words for what still uses an object that cannot be deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Model

from dashboard.auth.visible import visible
from twin.models import Run, Scenario, Sweep, SweepPoint

SHOWN = 5  # numbers of each type
NOUNS: dict[type[Model], str] = {Scenario: "scenario", Run: "run", Sweep: "sweep"}


def used_by(objects: Iterable[Model], user: Any) -> str:
    """Numbers as in the addresses of pages, 'scenarios 1, 2 and sweep 3'; a sweep stands for its own scenarios.

    Objects that the user does not see are not named.
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
        seen = set(visible(model._default_manager.filter(pk__in=found[model]), user).values_list("pk", flat=True))
        if seen:
            parts.append(_listed(noun, sorted(seen)))
        if found[model] - seen:
            others.add(f"a {noun} of another team")
    return " and ".join([*parts, *sorted(others)])


def _sweeps_for_their_scenarios(found: dict[type[Model], set[int]]) -> None:
    scenarios = SweepPoint.objects.filter(run__scenario__in=found[Scenario], run__scenario__unlisted=True)
    for scenario, sweep in scenarios.values_list("run__scenario_id", "sweep_id"):
        found[Scenario].discard(scenario)
        found[Sweep].add(sweep)


def _listed(noun: str, numbers: list[int]) -> str:
    more = len(numbers) - SHOWN
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    return f"{noun}{'s' if len(numbers) > 1 else ''} {shown}{f' and {more:,} more' if more > 0 else ''}"
