"""Shadows in the background: one set at a time, each shadow in a process of its own at a low priority.

The ticker requests them (`Requests`). A task computes shadows for some seconds and gives its worker back, so that
imports and certificates never wait for a whole set. The set has a lease, renewed while a shadow is computed; a set
without one goes on where it stopped.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.analysis.certificate_task import QUEUE
from twin.infra.errors import Refused
from twin.models import Connection, Run, Shadow, ShadowSet
from twin.processes import bounded_process, shutdown
from twin.processes.dispatch import send
from twin.runs import commands, lease, runner
from twin.studies.shadows import replays, retention, sets
from twin.studies.shadows.metrics import of_run

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=10)  # renewed twice a second while a shadow is computed
TURN_S = 10.0  # after this time a worker gives way to other tasks
ASKED_S = 5.0  # a request that no worker accepted for this long is repeated
DUE_S = 10.0  # between two checks whether a set of the twin's own is due
ON_REQUEST = 2**62  # certified_seq of a shadow: its certificate is computed when somebody asks for it


class Requests:
    """Time of the last request for the set under way, repeated until it is over; then for the next set that is due."""

    def __init__(self) -> None:
        self.asked, self.when, self.checked = 0, float("-inf"), float("-inf")

    def refresh(self) -> int | None:
        """Request for a turn for the set under way, if no worker has it; the set."""
        now = time.monotonic()
        found = under_way()
        if found is None:
            if now - self.checked > DUE_S:
                self.checked = now
                _begin_due()
            return None
        if _held(found) or (found.pk == self.asked and now - self.when < ASKED_S):
            return None
        self.asked, self.when = found.pk, now
        send("shadow_set", found.pk, queue=QUEUE, expires=ASKED_S)
        return found.pk


def under_way() -> ShadowSet | None:
    """The set that is computed, or the next one: those that users asked for come first."""
    active = ShadowSet.objects.filter(status__in=ShadowSet.ACTIVE)
    return active.order_by("status", F("created_by").asc(nulls_last=True), "id").first()


def work(set_id: int) -> None:
    """A turn: shadows of the set for TURN_S, each in its own limited process."""
    until, owner = time.monotonic() + TURN_S, lease.new_owner()
    if not _claim(set_id, owner):
        return
    wanted = partial(_renew, set_id, owner)
    try:
        while time.monotonic() < until and not shutdown.asked() and wanted():
            of = ShadowSet.objects.select_related("connection", "run").get(pk=set_id)
            shadow = of.shadows.filter(status=Shadow.WAITING).first()
            if not of.facts:
                outcome = bounded_process.run(partial(prepare, set_id), limit_s=settings.SHADOW_LIMIT_S, wanted=wanted)
                if outcome in bounded_process.FAILURES:
                    sets.end(of, ShadowSet.FAILED, f"preparing its window failed: {_why(outcome)}")
            elif shadow is None:
                sets.end(of, ShadowSet.FINISHED)
                retention.thin(of.connection, of.purpose)
            else:
                outcome = bounded_process.run(
                    partial(compute, shadow.pk), limit_s=settings.SHADOW_LIMIT_S, wanted=wanted
                )
                if outcome in bounded_process.FAILURES:
                    _fail(shadow.pk, outcome)
    except ShadowSet.DoesNotExist:
        return
    ShadowSet.objects.filter(pk=set_id, owner=owner).update(owner="", lease_until=None)


def prepare(set_id: int) -> None:
    """Window of a set, cut from the log; a set that cannot have one ends with the reason."""
    of = ShadowSet.objects.select_related("connection__run__scenario__cluster", "run").get(pk=set_id)
    try:
        if of.purpose == ShadowSet.SHADOWS and of.run_id != of.connection.run_id:
            raise Refused("another run mirrors the cluster now; start the shadows again")
        sets.prepare(of)
    except (Refused, ModelError, UnknownName) as error:
        sets.end(of, ShadowSet.FAILED, str(error))
    except (OperationalError, InterfaceError, MemoryError):
        raise  # as outcomes of the process
    except Exception as error:
        log.exception("set of shadows %s: preparing its window failed", set_id)
        sets.end(of, ShadowSet.FAILED, f"preparing its window failed: {type(error).__name__}: {error}")


def compute(shadow_id: int) -> None:
    """A shadow from beginning to end in this process: its run, and its metrics beside the real ones."""
    shadow = Shadow.objects.select_related("set__connection", "set__trace", "set__cluster").get(pk=shadow_id)
    run = shadow.run
    if run is None:
        scenario = sets.scenario_of(shadow)
        run = Run.objects.create(
            scenario=scenario, slow=True, certified_seq=ON_REQUEST, clock_wall=timezone.now(),
            created_by=scenario.created_by,
        )  # fmt: skip
        Shadow.objects.filter(pk=shadow_id).update(run=run)
    runner.complete(run.pk)
    run = Run.objects.select_related("scenario__trace").get(pk=run.pk)
    if run.status == Run.FAILED:
        Shadow.objects.filter(pk=shadow_id).update(status=Shadow.FAILED, message=run.message)
    elif run.status == Run.FINISHED:
        of = shadow.set
        metrics, deltas, never = of_run(run, of)
        before = of.facts.get("unplaced", never)
        of.facts["unplaced"] = [job for job in never if job in set(before)]
        if of.purpose == ShadowSet.REPLAY:
            of.facts["replay"] = replays.metrics_of(run, of, of.facts["arrives"])
        with transaction.atomic():
            Shadow.objects.filter(pk=shadow_id).update(status=Shadow.DONE, figures=metrics, deltas=deltas)
            ShadowSet.objects.filter(pk=of.pk).update(facts=of.facts)


def _begin_due() -> None:
    """The next replay or set of the cluster whose newest one is the oldest, where one is due."""
    for connection in Connection.objects.filter(wanted=Connection.FOLLOWING, run__isnull=False).select_related("run"):
        if (before := replays.due(connection)) is not None and _begun(
            connection, replays.DAY_MS, purpose=ShadowSet.REPLAY, run=before
        ):
            return
        if sets.due(connection) and _begun(connection):
            return


def _begun(connection: Connection, *window: int, **what: Any) -> bool:
    """Request for a set of the twin's own; False where there can be none."""
    try:
        sets.request(connection, *window, **what)
    except Refused as error:
        log.info("no %s of %s: %s", what.get("purpose", ShadowSet.SHADOWS), connection.name, error)
        return False
    return True


def _held(of: ShadowSet) -> bool:
    return lease.in_force(of.lease_until, of.owner, LEASE)


def _claim(set_id: int, owner: str) -> bool:
    """True if this process has the lease of a set that is not over; False if another process has it."""
    of = ShadowSet.objects.filter(pk=set_id, status__in=ShadowSet.ACTIVE).first()
    if of is None or _held(of):
        return False
    free = ShadowSet.objects.filter(pk=set_id, status__in=ShadowSet.ACTIVE).filter(owner=of.owner)
    return free.update(owner=owner, lease_until=timezone.now() + LEASE, status=ShadowSet.COMPUTING) > 0


def _renew(set_id: int, owner: str) -> bool:
    """True if this owner still has the set."""
    return ShadowSet.objects.filter(pk=set_id, owner=owner).update(lease_until=timezone.now() + LEASE) > 0


def _why(outcome: bounded_process.Outcome) -> str:
    return bounded_process.why(outcome, settings.SHADOW_LIMIT_S, "SHADOW_LIMIT_S")


def _fail(shadow_id: int, outcome: bounded_process.Outcome) -> None:
    """Record of a shadow that took too long or broke; its run ends."""
    shadow = Shadow.objects.get(pk=shadow_id)
    Shadow.objects.filter(pk=shadow_id, status=Shadow.WAITING).update(status=Shadow.FAILED, message=_why(outcome))
    if shadow.run_id is not None:
        commands.end_quietly([shadow.run_id])
