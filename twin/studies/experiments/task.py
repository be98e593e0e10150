"""Parts of experiments in the background: each in a process of its own, at a low priority, under a lease.

The ticker requests as many as may be computed at once (`EXPERIMENT_PROCESSES`), as one group, so that imports and
certificates always have a worker. A part whose worker was killed is computed again, and one whose own process was
killed fails, or a part that needs more memory than there is would be computed for ever; finished parts stay.
"""

from __future__ import annotations

import json
import logging
import time
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

import experiments
from twin.infra.errors import Refused
from twin.models import Reproduction, ReproductionPart
from twin.processes import bounded_process, shutdown
from twin.processes.dispatch import send_all
from twin.runs import lease
from twin.studies.experiments import tables
from twin.studies.experiments.inputs import options_of

log = logging.getLogger(__name__)
QUEUE = "certificates"
LEASE = timedelta(seconds=10)  # renewed twice a second while a part is computed
TURN_S = 10.0  # after this time a worker gives way to other tasks
ASKED_S = 5.0  # a request that no worker accepted for this long is repeated
MAX_KEPT = 10  # ended reproductions of an experiment


class Requests:
    """Time and parts of the last request, which is repeated while there are parts to compute."""

    def __init__(self) -> None:
        self.asked: tuple[int, ...] = ()
        self.when = float("-inf")

    def refresh(self) -> list[int]:
        """Request for the parts that a worker may begin now; those parts."""
        found = due()
        now = time.monotonic()
        if found and (tuple(found) != self.asked or now - self.when > ASKED_S):
            self.asked, self.when = tuple(found), now
            _send(found)
        return found


def request() -> None:
    """The same at once, after a start."""
    transaction.on_commit(lambda: _send(due()))


def due() -> list[int]:
    """Parts that may be computed now, oldest reproduction first; the last part of one that only has to be concluded."""
    free = settings.EXPERIMENT_PROCESSES - len(_in_progress())
    found = list(_waiting().values_list("pk", flat=True)[: max(0, free)])
    complete = Reproduction.objects.filter(status__in=Reproduction.ACTIVE).exclude(
        parts__status=ReproductionPart.WAITING
    )
    return found + [part.pk for of in complete if (part := of.parts.last()) is not None]


def work(part_id: int) -> None:
    """The part, then others that wait, for TURN_S."""
    until = time.monotonic() + TURN_S
    next_part: int | None = part_id
    while next_part is not None:
        _turn(next_part)
        more = time.monotonic() < until and not shutdown.asked()
        next_part = next(iter(due()), None) if more else None


def compute(part_id: int, owner: str) -> None:
    """The value of a part, in this process."""
    part = ReproductionPart.objects.select_related("reproduction__trace").get(pk=part_id)
    of = part.reproduction
    began = time.perf_counter()
    value = experiments.part_value(of.experiment, options_of(of), part.title)
    fields = {"value": json.dumps(value), "seconds": time.perf_counter() - began, "status": ReproductionPart.DONE}
    ReproductionPart.objects.filter(pk=part_id, owner=owner).update(**fields, owner="", lease_until=None)


def conclude(reproduction_id: int) -> None:
    """The table of a reproduction, if it has all values."""
    of = Reproduction.objects.select_related("trace").filter(pk=reproduction_id, status__in=Reproduction.ACTIVE).first()
    if of is None or of.parts.exclude(status=ReproductionPart.DONE).exists():
        return
    values = {part.title: json.loads(part.value) for part in of.parts.all()}
    try:
        table = tables.stored(experiments.table_of_parts(of.experiment, options_of(of), values))
    except (ArithmeticError, LookupError, TypeError, ValueError, Refused) as error:
        log.exception("the table of the experiment %s failed", of.experiment)
        end(of, Reproduction.FAILED, f"its table could not be computed: {type(error).__name__}: {error}"[:300])
        return
    end(of, Reproduction.FINISHED, table=table)
    old = Reproduction.objects.filter(experiment=of.experiment).exclude(status__in=Reproduction.ACTIVE)
    Reproduction.objects.filter(pk__in=list(old.values_list("pk", flat=True)[MAX_KEPT:])).delete()


def end(of: Reproduction, status: str, message: str = "", table: str = "") -> None:
    """End of an active reproduction."""
    active = Reproduction.objects.filter(pk=of.pk, status__in=Reproduction.ACTIVE)
    active.update(status=status, message=message, table=table, finished_at=timezone.now())


def _send(parts: list[int]) -> None:
    if parts:
        send_all("experiment_part", parts, queue=QUEUE, expires=ASKED_S)


def _turn(part_id: int) -> None:
    """Computation of one part in a limited process, if nobody else has it."""
    owner = lease.new_owner()
    part = ReproductionPart.objects.select_related("reproduction").filter(pk=part_id).first()
    if part is None:
        return
    if _claim(part, owner):
        outcome = bounded_process.run(
            partial(compute, part_id, owner),
            limit_s=settings.EXPERIMENT_LIMIT_S,
            wanted=partial(_renew, part_id, owner),
        )
        if outcome in bounded_process.FAILURES:
            _fail(part, owner, outcome)
        ReproductionPart.objects.filter(pk=part_id, owner=owner).update(owner="", lease_until=None)
    conclude(part.reproduction_id)


def _claim(part: ReproductionPart, owner: str) -> bool:
    """True if this process may compute the part; False if another has it, or as many are computed as may be."""
    with transaction.atomic():
        if len(_in_progress()) >= settings.EXPERIMENT_PROCESSES or not _waiting().filter(pk=part.pk).exists():
            return False
        free = ReproductionPart.objects.filter(pk=part.pk, owner=part.owner, status=ReproductionPart.WAITING)
        if not free.update(owner=owner, lease_until=timezone.now() + LEASE):
            return False
        Reproduction.objects.filter(pk=part.reproduction_id, status=Reproduction.QUEUED).update(
            status=Reproduction.COMPUTING
        )
    return True


def _renew(part_id: int, owner: str) -> bool:
    """True if this owner still has the part."""
    return ReproductionPart.objects.filter(pk=part_id, owner=owner).update(lease_until=timezone.now() + LEASE) > 0


def _fail(part: ReproductionPart, owner: str, outcome: bounded_process.Outcome) -> None:
    """Record of a part that took too long or broke. The reproduction ends; its finished parts stay."""
    held = ReproductionPart.objects.filter(pk=part.pk, owner=owner)
    if not held.update(status=ReproductionPart.FAILED, owner="", lease_until=None):
        return
    why = bounded_process.why(outcome, settings.EXPERIMENT_LIMIT_S, "EXPERIMENT_LIMIT_S")
    end(part.reproduction, Reproduction.FAILED, f"the part “{part.title}” failed: {why}")
    part.reproduction.parts.filter(status=ReproductionPart.WAITING).update(owner="", lease_until=None)


def _in_progress() -> list[int]:
    """Parts that a living process computes."""
    taken = ReproductionPart.objects.exclude(lease_until=None).values_list("pk", "lease_until", "owner")
    return [pk for pk, until, owner in taken if lease.in_force(until, owner, LEASE)]


def _waiting() -> QuerySet[ReproductionPart]:
    """Parts of active reproductions without a value and without a worker."""
    active = ReproductionPart.objects.filter(
        status=ReproductionPart.WAITING, reproduction__status__in=Reproduction.ACTIVE
    )
    return active.exclude(pk__in=_in_progress()).order_by("reproduction_id", "pk")
