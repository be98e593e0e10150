"""Lists of scenarios, traces and clusters: they show what users made and what can be run.

Left out are the points of sweeps, the cuts of shadows, and the records of live clusters, which have a page of their
own and cannot be simulated.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from scheduling.kernel.registry import recorders
from twin.models import Scenario, ShadowSet


def scenarios(found: QuerySet[Scenario]) -> QuerySet[Scenario]:
    """The scenarios that lists show."""
    return found.filter(unlisted=False).exclude(scheduler__in=recorders())


def inputs(found: QuerySet[Any], name: str) -> QuerySet[Any]:
    """The traces or clusters (name) that lists show."""
    cut = ShadowSet.objects.filter(**{f"{name}__isnull": False})
    mirrored = Scenario.objects.filter(scheduler__in=recorders())
    return found.exclude(pk__in=cut.values(f"{name}_id")).exclude(pk__in=mirrored.values(f"{name}_id"))


def is_listed(scenario: Scenario) -> bool:
    """True unless the scenario is a point of a sweep, a shadow or the record of a live cluster."""
    return not scenario.unlisted and scenario.scheduler not in recorders()
