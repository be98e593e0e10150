"""Races: every scheduler that can run a scenario's cluster and trace, started in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db import transaction

from scheduling.kernel.registry import Unavailable, build, scheduler_class, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.training_models import training_model_of
from scheduling.model.values import Cluster, ModelError
from twin.analysis.comparability import comparable, model_of, named
from twin.analysis.suitability import able, alternatives_text, fields_needed
from twin.files.job_fields import all_present, present, uploads_off
from twin.files.job_table import JobTable
from twin.files.packed_jobs import unpack_jobs
from twin.models import Run, Scenario, Trace
from twin.runs import commands, scheduler_history
from twin.scenarios import store
from twin.scenarios.phase_rules import scheduler_of, stated


@dataclass(frozen=True)
class Entrant:
    """Entrant: a scheduler in a race, or the reason why it is left out; model: its execution model, if that is why."""

    scheduler: type[BaseScheduler]
    parameters: dict[str, Any]
    reason: str = ""
    model: str = ""


def entrants(scenario: Scenario) -> list[Entrant]:
    """Participants, one per scheduler: that of the scenario first, with its parameters.

    The others with defaults, in alphabetical order.

    All train by one model, that of the scenario's own scheduler, or the metrics could not be ranked (comparability.py).
    A scheduler of the scenario that is missing is left out, and the others race.
    """
    tables = list(unpack_jobs(Trace.objects.only("jobs").get(pk=scenario.trace_id).jobs))
    cluster = store.cluster_of(scenario.cluster_id)
    try:
        own = scheduler_of(store.base(scenario))
    except Unavailable:
        model = _model_without(scenario, cluster)
        return [_entrant(cls, trained_by(cls, model), cluster, model, tables) for cls in schedulers().values()]
    return entrants_beside(own, dict(scenario.parameters), cluster, tables)


def entrants_beside(
    own: BaseScheduler, parameters: dict[str, Any], cluster: Cluster, tables: list[JobTable]
) -> list[Entrant]:
    """Participants of a race of a scheduler with its parameters on a cluster, before there is a scenario."""
    model = model_of(own, cluster)
    found = [Entrant(type(own), parameters, _refusal(own, cluster))]  # whatever its jobs lack: it was chosen
    for cls in schedulers().values():
        if cls is not type(own):
            found.append(_entrant(cls, trained_by(cls, model), cluster, model, tables))
    return found


def race(scenario: Scenario, chosen: Sequence[str] | None = None, user: Any = None) -> list[Run]:
    """A batch run of each scheduler that can, or of those chosen; scenarios already there are used again."""
    known = {entrant.scheduler.name: entrant for entrant in entrants(scenario)}
    able = [name for name, entrant in known.items() if not entrant.reason]
    names = able if chosen is None else list(dict.fromkeys(chosen))
    for name in names:
        scheduler_class(name)  # raises an error for an unknown name
        if known[name].reason:
            raise commands.Refused(f"{known[name].scheduler.title} cannot run this: {known[name].reason}")
    if len(names) < 2:
        raise commands.Refused(
            "a race requires two schedulers that can run this cluster and trace; available: "
            f"{' and '.join(able) or 'none'}"
        )
    with transaction.atomic():
        return commands.start_runs([_scenario_of(scenario, known[name]) for name in names], user)


def _entrant(
    cls: type[BaseScheduler], parameters: dict[str, Any], cluster: Cluster, model: str, tables: list[JobTable]
) -> Entrant:
    scheduler = build(cls.name, parameters)
    if not comparable([other := model_of(scheduler, cluster)], [model]):
        reason = (
            f"its execution model is {named([other])}, and that of this race is {named([model])}: the same job has "
            "different durations, so its metrics could not be ranked"
        )
        return Entrant(cls, parameters, reason, named([other]))
    return Entrant(cls, parameters, obstacle(scheduler, cluster, tables))


def _model_without(scenario: Scenario, cluster: Cluster) -> str:
    """Model of a race without the scenario's own scheduler: that of its newest run, otherwise that of the cluster."""
    run = scenario.runs.order_by("-pk").first()
    execution = stated(run, 0).get("execution", {}) if run else {}
    model: str = execution.get("training") or execution.get("model") or training_model_of(cluster)
    return model


def trained_by(cls: type[BaseScheduler], model: str) -> dict[str, Any]:
    """Parameters of a scheduler with which its jobs train by that model, where it can be asked for one of several."""
    several = model in cls.model.supports and len(cls.model.supports) > 1
    return {"model": model} if several and any(f.name == "model" for f in fields(cls.Parameters)) else {}


def _refusal(scheduler: BaseScheduler, cluster: Cluster) -> str:
    """Reason why a scheduler cannot run the cluster; empty if it can."""
    try:
        scheduler.check(cluster)
    except ModelError as error:
        return str(error)
    return ""


def obstacle(scheduler: BaseScheduler, cluster: Cluster, tables: list[JobTable]) -> str:
    """Reason why a scheduler cannot run any of these jobs on the cluster; empty if it can run some."""
    if refusal := _refusal(scheduler, cluster):
        return refusal
    servers = len(cluster.servers)
    if scheduler.model.uploads_to_servers and any(uploads_off(table, servers).any() for table in tables):
        return f"the upload times of at least one job are not for the {servers:,} servers of the cluster"
    needs = fields_needed(scheduler, cluster)
    lacking = [part for part in needs if not any(present(table, part).any() for table in tables)]
    if lacking:
        return f"no job of the trace has {', '.join(lacking)}, which it requires"
    if not any(all_present(table, needs).any() for table in tables):
        return f"no job of the trace has all required fields: {', '.join(needs)}"
    if not any(able(scheduler, table).any() for table in tables):
        return f"it requires fields that no job of the trace has: {alternatives_text(scheduler)}"
    return ""


def _scenario_of(scenario: Scenario, entrant: Entrant) -> Scenario:
    """The scenario with this scheduler; found again when it was made before."""
    same = {
        "cluster_id": scenario.cluster_id, "trace_id": scenario.trace_id, "scheduler": entrant.scheduler.name,
        "parameters": entrant.parameters, "seed": scenario.seed, "edits": scenario.edits, "team_id": scenario.team_id,
    }  # fmt: skip
    if entrant.scheduler.name == scenario.scheduler:
        return scenario
    known = Scenario.objects.filter(**same).first()
    if known is None:
        # the name of a race stands in the names of all its runs; a name by default ends with the scheduler
        base = scenario.name.removesuffix(f", {_in_charge(scenario.scheduler, scenario.edits)}")
        name = f"{base}, {_in_charge(entrant.scheduler.name, scenario.edits)}"
        known = Scenario(**same, name=name[:200], created_by=scenario.created_by)
        known.settle(scenario.team_id)
        known.save()
    return known


def _in_charge(scheduler: str, edits: Sequence[Any]) -> str:
    """The schedulers of a scenario with these edits, in words."""
    return scheduler_history.words(scheduler_history.in_order(scheduler, edits))
