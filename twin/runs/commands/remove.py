"""Removal of runs with their logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from twin.infra import pubsub
from twin.infra.errors import Refused
from twin.models import Run
from twin.runs import deleted, scheduler_history
from twin.runs.commands.allowed import simulated
from twin.runs.commands.audit import audit


def delete(run: Run, user: Any = None) -> None:
    """Removal of a run that has ended, with its log."""
    if run.status in Run.ACTIVE:
        simulated(run, "delete")
    if run.status in Run.ACTIVE:
        raise Refused(f"run {run.pk} is {run.status}; cancel it before deleting it")
    with transaction.atomic():
        remove(run, "run.delete", {}, user)


def delete_all(runs: QuerySet[Run], detail: dict[str, Any], user: Any = None) -> None:
    """Removal of these runs with their logs; each has its own entry in the audit list, because each had a page."""
    numbers = [run.pk for run in runs]
    for run in runs:
        _audit_removal(run, "run.delete", detail, user)
    runs.delete()
    _publish(numbers)


def remove(run: Run, action: str, detail: dict[str, Any], user: Any) -> None:
    """Removal of the run with its log, published to its readers."""
    _audit_removal(run, action, detail, user)
    number = run.pk
    run.delete()
    _publish([number])


def _audit_removal(run: Run, action: str, detail: dict[str, Any], user: Any) -> None:
    of = {
        "scenario": run.scenario.name,
        "scheduler": scheduler_history.words_of(run),
    }
    audit(user, action, f"run {run.pk}", of | detail)


def _publish(numbers: Sequence[int]) -> None:
    """Publication of the removal of these runs after the transaction."""

    def publish() -> None:
        for number in numbers:
            if (was := deleted.what_was("run", number)) is not None:
                pubsub.deleted(number, str(was), was.team)

    transaction.on_commit(publish)
