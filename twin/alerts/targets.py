"""Targets of alerts: live clusters, and runs in progress."""

from __future__ import annotations

from typing import NamedTuple

from twin.alerts.base import BATCH, CLUSTER, RUN
from twin.models import Connection, Run
from twin.models.run_modes import modes_where
from twin.studies import demo

UNUSED = ("certificate", "certificate_prices", "decision_ms", "metrics")  # fields that no rule reads


class Target(NamedTuple):
    """A live cluster with its run, if it has one, or a run. name: as in the audit, `connection lab` or `run 5`."""

    name: str
    about: str
    run: Run | None
    connection: Connection | None = None


def watched() -> list[Target]:
    """All targets, by name."""
    followed = Connection.objects.filter(wanted=Connection.FOLLOWING).select_related("run__scenario__cluster")
    active = Run.objects.filter(status__in=Run.ACTIVE, mode__in=modes_where(simulated=True)).select_related("scenario")
    found = [Target(name_of(connection), CLUSTER, connection.run, connection) for connection in followed]
    found += [_of_run(run) for run in active.defer(*UNUSED)]
    return sorted(found, key=lambda target: target.name)


def _of_run(run: Run) -> Target:
    return Target(name_of(run), about_of(run), run)


def about_of(run: Run) -> str:
    """Subject of the rules about a run in progress: a live run, or a batch run."""
    return RUN if run.mode_rules.paced else BATCH


def name_of(what: Connection | Run) -> str:
    """Name of the target."""
    return f"connection {what.name}" if isinstance(what, Connection) else f"run {what.pk}"


def of_run(run: Run) -> Target:
    """The target that a page of this run shows: the live cluster of a run that mirrors it now, else the run."""
    following = run.connections.filter(wanted=Connection.FOLLOWING)
    connection = None if run.mode_rules.simulated else following.first()
    if connection is not None:
        return Target(name_of(connection), CLUSTER, run, connection)
    return Target(name_of(run), RUN, run)


def team_of(target: Target) -> int | None:
    """The team of the target."""
    if target.connection is not None:
        return target.connection.team_id
    return None if target.run is None else target.run.scenario.team_id


def is_demo(target: Target) -> bool:
    """True for the demo: its alerts are not sent."""
    run = target.run
    return run is not None and run.created_by_id is None and run.scenario.name == demo.NAME


def is_watched(target: Target) -> bool:
    """True if all rules about such a target are checked in the background."""
    run = target.run
    paced = run is not None and run.mode_rules.paced and run.status in Run.ACTIVE
    return target.about == CLUSTER or paced
