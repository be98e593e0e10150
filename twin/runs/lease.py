"""Lease of a run, the exclusive right to write it: held by the process that raised its epoch last, for 15 s.

Every write checks the epoch (here and in event_log.append), so a task that is delivered twice or considered dead does
no harm.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from twin.eventlog.event_log import LeaseLost
from twin.models import Run
from twin.models.run_modes import modes_where

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=15)
RENEW_S = 1.0
LET_GO_S = 0.8


def take(run_id: int, *, simulated: bool = True, force: bool = False) -> Run | None:
    """The run under a new epoch, or None if another has it, or it has ended or has another kind of mode.

    simulated: whether the caller computes runs; the follower records them (twin/models/run_modes.py).
    force: also from another one that has it, whose next write is then refused.
    """
    now = timezone.now()
    with transaction.atomic():
        own = Run.objects.filter(pk=run_id, mode__in=modes_where(simulated=simulated))
        active = own.select_for_update(of=("self",)).filter(status__in=Run.ACTIVE)
        run = active.select_related("scenario").first()
        if run is None or (not force and held(run)):
            return None
        run.epoch, run.lease_owner, run.leased_at, run.lease_until = run.epoch + 1, new_owner(), now, now + LEASE
        run.save(update_fields=["epoch", "lease_owner", "leased_at", "lease_until"])
        return run


def write(run: Run, **fields: Any) -> None:
    """Update of fields of the run if the epoch is still ours; LeaseLost otherwise."""
    if not Run.objects.filter(pk=run.pk, epoch=run.epoch).update(**fields):
        raise LeaseLost(f"run {run.pk}: lease epoch {run.epoch} has ended")
    for name, value in fields.items():
        setattr(run, name, value)


def release(run: Run) -> None:
    """Release of the lease, so that the next slice need not wait."""
    Run.objects.filter(pk=run.pk, epoch=run.epoch).update(lease_until=None, lease_owner="")


def held(run: Run) -> bool:
    """True if a worker has the lease."""
    return in_force(run.lease_until, run.lease_owner, LEASE)


def in_force(until: datetime | None, owner: str, length: timedelta) -> bool:
    """True if a lease of this length is in force; one of twice the length is from before the clock was set back."""
    now = timezone.now()
    return until is not None and now < until < now + 2 * length and not abandoned(owner)


def free(field: str, now: float, length_s: float) -> Q:
    """Rows whose lease of this length, a field with Unix seconds, is not in force, as above."""
    return Q(**{f"{field}__lt": now}) | Q(**{f"{field}__gt": now + 2 * length_s})


def abandoned(owner: str) -> bool:
    """True if the owner was a process of this host that has ended, so that its lease can be ignored."""
    host, _, rest = owner.rpartition("/")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(rest.split(".")[0]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):
        pass
    return False


class Heartbeat:
    """Renewal of a run's lease by a thread of its own, so that one long decision or a long summary does not lose it.

    When the lease is lost (the run was cancelled, say), `let_go` is called unless the work ends within LET_GO_S:
    nothing that it computes would be written. The lease of a work that hangs, as `hangs` states, is not renewed.
    """

    def __init__(
        self, run: Run, let_go: Callable[[], object] = lambda: None, hangs: Callable[[], object] = lambda: False
    ) -> None:
        self.pk, self.epoch, self.let_go, self.hangs = run.pk, run.epoch, let_go, hangs
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._beat, name=f"lease-{run.pk}", daemon=True)

    def __enter__(self) -> Heartbeat:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _beat(self) -> None:
        while not self.done.wait(RENEW_S):
            if self.hangs():
                continue
            try:
                held = Run.objects.filter(pk=self.pk, epoch=self.epoch).update(lease_until=timezone.now() + LEASE)
            except DatabaseError as error:
                log.warning("run %s: its lease could not be renewed: %s", self.pk, error)
                continue
            finally:
                connection.close()  # this thread's own
            if not held:
                if not self.done.wait(LET_GO_S):
                    self.let_go()
                return


def new_owner() -> str:
    """Unique name of this process for one lease."""
    return f"{socket.gethostname()}/{os.getpid()}.{time.monotonic_ns()}"
