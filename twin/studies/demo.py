"""The demo: a live OASiS run on the paper's workload, so that a new installation shows a moving chart at once."""

from __future__ import annotations

from django.db import transaction

from twin.models import Run, Scenario
from twin.runs import commands, readers

NAME = "Demo: OASiS on 40 edge and 40 cloud servers"
SEED = 11
SPEED = 1800.0  # one slot of an hour passes in two seconds
MAX_KEPT = 3  # ended demo runs that are kept, besides those with readers or forks


def ensure(begin: bool = False) -> Run:
    """The active demo run; a new one if the last has finished, with `begin` also when it was cancelled or failed."""
    with transaction.atomic():
        scenario = Scenario.objects.filter(name=NAME).first() or _scenario()
    newest = scenario.runs.filter(created_by=None).first()
    over = (Run.FINISHED, Run.CANCELLED, Run.FAILED) if begin else (Run.FINISHED,)
    if newest is not None and newest.status not in over:
        return newest
    _clear(scenario)
    return commands.start_run(scenario, mode=Run.LIVE, speed=SPEED)


def _clear(scenario: Scenario) -> None:
    """Removal of the ended runs that are not among the newest, have no readers and no forks."""
    ended = scenario.runs.filter(created_by=None, forks=None, children=None).exclude(status__in=Run.ACTIVE)
    old = readers.unread(list(ended.values_list("pk", flat=True)[MAX_KEPT:]))
    for run in Run.objects.filter(pk__in=old):
        commands.delete(run)


def _scenario() -> Scenario:
    from scheduling.workloads import generate
    from twin.scenarios.store import store_generated

    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=80, num_servers=80, seed=SEED)
    spec, trace = store_generated("OASiS paper workload, calibrated", cluster, jobs, SEED)
    return Scenario.objects.create(name=NAME, cluster=spec, trace=trace, scheduler="oasis", seed=SEED)
