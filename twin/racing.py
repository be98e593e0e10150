"""Every scheduler that can run a scenario's cluster and trace, started side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from django.db import transaction

from scheduling.model import Cluster, ModelError
from scheduling.registry import BaseScheduler, UnknownName, build, schedulers
from scheduling.training import NEEDS
from twin import control, scenarios
from twin.jobtable import DEMANDS, INTEGERS, MISSING, JobTable, unpack_jobs
from twin.models import Run, Scenario, Trace

PARTS = {part for needs in NEEDS.values() for part in needs}  # of a training model


@dataclass(frozen=True)
class Entrant:
    """A scheduler in a race, or why it is left out."""

    scheduler: type[BaseScheduler]
    parameters: dict[str, Any]
    reason: str = ""


def entrants(scenario: Scenario) -> list[Entrant]:
    """One for each scheduler: the scenario's own first, with its parameters; the others with their defaults, in alphabetical order.

    All train by one model (training.WORLDS): that of the scenario's own scheduler, or the figures would not be comparable. Schedulers
    without one of these race among themselves, as far as the trace has what they need.
    """
    cluster = scenarios.cluster_of(scenario.cluster_id)
    world = build(scenario.scheduler, scenario.parameters).model_on(cluster)
    tables = list(unpack_jobs(Trace.objects.only("jobs").get(pk=scenario.trace_id).jobs))
    found = [_entrant(cls, scenario, cluster, world, tables) for cls in schedulers().values()]
    return sorted(found, key=lambda entrant: entrant.scheduler.name != scenario.scheduler)


def race(scenario: Scenario, chosen: Sequence[str] | None = None, user: Any = None) -> list[Run]:
    """A batch run of each scheduler that can, or of those chosen among them; scenarios that are there already are used again."""
    known = {entrant.scheduler.name: entrant for entrant in entrants(scenario)}
    able = [name for name, entrant in known.items() if not entrant.reason]
    names = able if chosen is None else list(dict.fromkeys(chosen))
    for name in names:
        if name not in known:
            raise UnknownName(f"unknown scheduler {name!r}; known: {', '.join(known)}")
        if known[name].reason:
            raise control.Refused(f"{known[name].scheduler.title} cannot run this: {known[name].reason}")
    if len(names) < 2:
        raise control.Refused(
            f"a race needs two schedulers that can run this cluster and trace; there is {' and '.join(able) or 'none'}"
        )
    with transaction.atomic():
        return control.start_runs([_scenario_of(scenario, known[name]) for name in names], user)


def _entrant(
    cls: type[BaseScheduler], scenario: Scenario, cluster: Cluster, world: str | None, tables: list[JobTable]
) -> Entrant:
    own = cls.name == scenario.scheduler
    parameters: dict[str, Any] = dict(scenario.parameters) if own else {}
    if not own and world and len(cls.worlds) > 1 and any(f.name == "model" for f in fields(cls.Parameters)):
        parameters["model"] = world
    return Entrant(cls, parameters, "" if own else _obstacle(cls, parameters, cluster, world, tables))


def _obstacle(
    cls: type[BaseScheduler], parameters: dict[str, Any], cluster: Cluster, world: str | None, tables: list[JobTable]
) -> str:
    if (world not in cls.worlds) if world else cls.worlds:
        theirs = f"the model of {' or '.join(cls.worlds)}" if cls.worlds else "a model of its own"
        return f"it trains by {theirs}, and this race is run by {f'that of {world}' if world else 'another'}"
    try:
        build(cls.name, parameters).check(cluster)
    except ModelError as error:
        return str(error)
    needs = cls.needs
    if world and len(cls.worlds) > 1:
        needs = (*NEEDS[world], *(part for part in cls.needs if part not in PARTS))
    lacking = [part for part in needs if not any(_has(table, part).any() for table in tables)]
    if lacking:
        return f"no job of the trace has {', '.join(lacking)}, which it needs"
    if not any(
        np.logical_and.reduce([np.ones(len(table), dtype=bool), *(_has(table, part) for part in needs)]).any() for table in tables
    ):
        return f"no job of the trace has all that it needs: {', '.join(needs)}"
    return ""


def _has(table: JobTable, part: str) -> np.ndarray:
    """[job] whether the part is there."""
    if part == "utility":
        return np.zeros(len(table), dtype=bool) if table.utility is None else ~np.isnan(table.utility[:, 0])
    if part == "upload_ms":
        return np.zeros(len(table), dtype=bool) if table.uploads is None else np.diff(table.uploads[0]) > 0
    if part in table.texts:
        return table.texts[part].codes != MISSING
    column = table.columns.get(part)
    if column is None:
        return np.zeros(len(table), dtype=bool)
    if part in DEMANDS:
        return column[:, 0] >= 0
    return column != MISSING if part in INTEGERS else ~np.isnan(column)


def _scenario_of(scenario: Scenario, entrant: Entrant) -> Scenario:
    """The scenario with this scheduler; found again when it was made before."""
    same = {
        "cluster_id": scenario.cluster_id, "trace_id": scenario.trace_id, "scheduler": entrant.scheduler.name,
        "parameters": entrant.parameters, "seed": scenario.seed, "edits": scenario.edits,
    }  # fmt: skip
    if entrant.scheduler.name == scenario.scheduler:
        return scenario
    known = Scenario.objects.filter(**same).first()
    return known or Scenario.objects.create(
        **same, name=f"{scenario.trace.name}, {entrant.scheduler.title}"[:200], created_by=scenario.created_by
    )
