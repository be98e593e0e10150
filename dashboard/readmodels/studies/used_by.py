"""Words for what still uses an object that cannot be deleted."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Model

from twin.models import Run, Scenario, Sweep, SweepPoint

SHOWN = 5  # numbers of each type
NOUNS = {Scenario: "scenario", Run: "run", Sweep: "sweep"}


def used_by(objects: Iterable[Model]) -> str:
    """Numbers as in the addresses of pages, 'scenarios 1, 2 and sweep 3'; a sweep stands for its own scenarios."""
    numbers: dict[str, set[int]] = {noun: set() for noun in NOUNS.values()}
    others: set[str] = set()
    for one in objects:
        noun = NOUNS.get(type(one))
        if noun:
            numbers[noun].add(one.pk)
        else:
            others.add(str(type(one)._meta.verbose_name))
    hidden = set(Scenario.objects.filter(pk__in=numbers["scenario"], unlisted=True).values_list("pk", flat=True))
    points = SweepPoint.objects.filter(run__scenario_id__in=hidden).values_list("run__scenario_id", "sweep_id")
    for scenario, sweep in points:
        numbers["scenario"].discard(scenario)
        numbers["sweep"].add(sweep)
    parts = [_listed(noun, sorted(found)) for noun, found in numbers.items() if found]
    return " and ".join([*parts, *(f"a {name}" for name in sorted(others))])


def _listed(noun: str, numbers: list[int]) -> str:
    more = len(numbers) - SHOWN
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    return f"{noun}{'s' if len(numbers) > 1 else ''} {shown}{f' and {more:,} more' if more > 0 else ''}"
