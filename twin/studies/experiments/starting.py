"""Start, cancel and resumption of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

import experiments
from scheduling.model.values import ModelError
from twin.infra.errors import Refused
from twin.models import Reproduction, ReproductionPart, Trace
from twin.runs.commands import audit
from twin.studies.experiments import task
from twin.studies.experiments.inputs import REQUIRED, arrivals_use, options_of

MAX_SEEDS = 100


def start(name: str, seeds: int | None = None, trace: Trace | None = None, user: Any = None) -> Reproduction:
    """The reproduction, queued or resumed: finished parts of one that was cancelled or failed are kept.

    UnknownName, ModelError or Refused states what is wrong.
    """
    with transaction.atomic():
        made = _started(name, seeds, trace, user)
    task.request()
    return made


def start_all(names: Sequence[str], user: Any = None) -> list[Reproduction]:
    """Start of the experiments that can run here, need no further inputs and are not in progress; all or none."""
    with transaction.atomic():
        busy = set(_active().values_list("experiment", flat=True))
        wanted = [
            name for name in names
            if name not in busy and arrivals_use(name) != REQUIRED and not experiments.unavailable(name)
        ]  # fmt: skip
        if not wanted:
            raise Refused(
                "none of these experiments can be started: each is in progress, needs a trace or cannot run here"
            )
        made = [_started(name, None, None, user) for name in wanted]
    task.request()
    return made


def cancel(name: str, user: Any = None) -> int:
    """End of the active reproduction; its number of unfinished parts."""
    return _cancel(_active().filter(experiment=name), user)


def cancel_all(user: Any = None) -> int:
    """End of the active reproductions of all experiments."""
    return _cancel(_active(), user)


def _active() -> QuerySet[Reproduction]:
    return Reproduction.objects.filter(status__in=Reproduction.ACTIVE)


def _started(name: str, seeds: int | None, trace: Trace | None, user: Any) -> Reproduction:
    _check(name, seeds, trace)
    code = experiments.code_digest(name)
    before = Reproduction.objects.filter(experiment=name).first()
    if before is not None and before.status in Reproduction.ACTIVE:
        raise Refused(f"the experiment {name} is in progress; cancel it before starting it again")
    same = before is not None and (before.seeds, before.trace_id, before.code) == (seeds, trace and trace.pk, code)
    if before is not None and same and before.status in (Reproduction.CANCELLED, Reproduction.FAILED):
        before.parts.filter(status=ReproductionPart.FAILED).update(status=ReproductionPart.WAITING)
        before.status, before.message, before.finished_at = Reproduction.QUEUED, "", None
        before.save(update_fields=["status", "message", "finished_at"])
        audit(user, "experiment.resume", f"experiment {name}", {"parts": before.parts.count()})
        return before
    made = Reproduction.objects.create(
        experiment=name, seeds=seeds, trace=trace, trace_name=trace.name if trace else "", code=code, created_by=user
    )
    try:
        titles = experiments.part_titles(name, options_of(made))
    except experiments.Skip as reason:
        raise Refused(f"the experiment {name} cannot run: {reason}") from reason
    ReproductionPart.objects.bulk_create(ReproductionPart(reproduction=made, title=title) for title in titles)
    audit(user, "experiment.start", f"experiment {name}", {"parts": len(titles), "seeds": seeds or "default"})
    return made


def _check(name: str, seeds: int | None, trace: Trace | None) -> None:
    experiments.MENU.named(name)
    if why := experiments.unavailable(name):
        raise Refused(f"the experiment {name} cannot run: {why}")
    if seeds is not None and not 1 <= seeds <= MAX_SEEDS:
        raise ModelError(f"seeds must be from 1 to {MAX_SEEDS}, got {seeds}")
    takes = arrivals_use(name)
    if trace is not None and not takes:
        raise ModelError(f"the experiment {name} takes no trace: its arrivals are random")
    if trace is None and takes == REQUIRED:
        raise ModelError(f"the experiment {name} replays the arrivals of a trace; select one")
    if trace is not None and (trace.status != Trace.READY or not trace.job_count):
        raise ModelError(f"trace {trace.pk} ({trace.name}) has no imported jobs; select one that is ready")


def _cancel(which: QuerySet[Reproduction], user: Any) -> int:
    with transaction.atomic():
        ended = list(which)
        left = ReproductionPart.objects.filter(reproduction__in=ended, status=ReproductionPart.WAITING)
        count = left.count()
        left.update(owner="", lease_until=None)
        Reproduction.objects.filter(pk__in=[of.pk for of in ended]).update(status=Reproduction.CANCELLED)
        for of in ended:
            audit(user, "experiment.cancel", f"experiment {of.experiment}", {})
    return count
