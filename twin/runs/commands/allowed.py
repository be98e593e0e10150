"""Preconditions of commands: a run that is active, live, and no mirror of a real cluster. Refused otherwise."""

from __future__ import annotations

from twin.infra.errors import Refused
from twin.models import Run
from twin.runs.clock import MAX_SPEED


def active(run: Run, verb: str) -> None:
    run.refresh_from_db()
    if run.status not in Run.ACTIVE:
        raise Refused(f"cannot {verb} run {run.pk}: it is {run.status}; choose an active run")


def simulated(run: Run, verb: str) -> None:
    """Refusal for a run that mirrors a real cluster; one that no connection follows any more can be cancelled."""
    if run.mode_rules.simulated or run.status not in Run.ACTIVE:
        return
    connection = run.connections.first()
    if connection is not None:
        name = connection.name
        raise Refused(f"cannot {verb} run {run.pk}: it mirrors the cluster {name}; pause following on /live/{name}/")
    if verb != "cancel":
        raise Refused(f"cannot {verb} run {run.pk}: no connection follows its cluster any more; cancel the run")


def live(run: Run, verb: str) -> None:
    if not run.mode_rules.paced:
        raise Refused(f"cannot {verb} run {run.pk}: it is not live; choose a live run")


def check_speed(speed: float) -> None:
    if not 0 < speed <= MAX_SPEED:
        raise Refused(
            f"speed must be above 0 and at most {MAX_SPEED:g} simulated ms per real ms, got {speed!r}; pause the run "
            "to stop it"
        )
