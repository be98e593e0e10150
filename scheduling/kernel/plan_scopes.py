"""Scopes of plans: what the keys of a `plan_changed` event name, and what the plan replaces.

An event states the name of its scope. Ledgers and folds ask for what follows from it and compare no names.
static/js/core/columns/frames.js derives the same for pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PlanScope:
    """Scope of a plan: it replaces the future of the jobs that it names, unless its rules say otherwise."""

    name: str  # as events state it

    of_workers: bool = False
    """True if its keys are workers, [role, server, worker] each, and not jobs."""

    restates: bool = False
    """True if it also replaces the past of what it names: it states what is known of it from the start on."""


OF_JOBS = PlanScope("job")
OF_WORKERS = PlanScope("worker", of_workers=True)
OF_HISTORY = PlanScope("observed", restates=True)
SCOPES = {scope.name: scope for scope in (OF_JOBS, OF_WORKERS, OF_HISTORY)}


def scope_of(data: Mapping[str, Any]) -> PlanScope:
    """Scope of a plan by the data of its event; ValueError if it is unknown."""
    if data["scope"] not in SCOPES:
        raise ValueError(f"unknown scope of a plan: {data['scope']!r}; known: {', '.join(SCOPES)}")
    return SCOPES[data["scope"]]
