"""The right to write a run: whoever raised its epoch last holds it, for 15 s at a time.

Every write checks the epoch (eventlog.append, here), so a task delivered twice or thought dead can do no harm.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from twin.eventlog import LeaseLost
from twin.models import Run

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=15)
RENEW_S = 4.0


def take(run_id: int) -> Run | None:
    """The run under a new epoch, or None when somebody else works on it or it has ended."""
    now = timezone.now()
    with transaction.atomic():
        active = Run.objects.select_for_update(of=("self",)).filter(pk=run_id, status__in=Run.ACTIVE)
        run = active.select_related("scenario").first()
        if run is None or (run.lease_until is not None and run.lease_until > now and not abandoned(run.lease_owner)):
            return None
        run.epoch, run.lease_owner, run.lease_until = run.epoch + 1, _owner(), now + LEASE
        run.save(update_fields=["epoch", "lease_owner", "lease_until"])
        return run


def write(run: Run, **fields: Any) -> None:
    """Sets fields of the run if the epoch is still ours; LeaseLost otherwise."""
    if not Run.objects.filter(pk=run.pk, epoch=run.epoch).update(**fields):
        raise LeaseLost(f"run {run.pk}: epoch {run.epoch} is over")
    for name, value in fields.items():
        setattr(run, name, value)


def release(run: Run) -> None:
    """Gives the lease back, so that the next slice need not wait."""
    Run.objects.filter(pk=run.pk, epoch=run.epoch).update(lease_until=None, lease_owner="")


def abandoned(owner: str) -> bool:
    """True when the owner was a process of this host that is gone: nobody has to wait for its lease to run out."""
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
    """Renews a run's lease from a thread of its own, so that one long decision or a long summary does not lose it."""

    def __init__(self, run: Run) -> None:
        self.pk, self.epoch = run.pk, run.epoch
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
            try:
                Run.objects.filter(pk=self.pk, epoch=self.epoch).update(lease_until=timezone.now() + LEASE)
            except DatabaseError as error:
                log.warning("run %s: its lease could not be renewed: %s", self.pk, error)
            finally:
                connection.close()  # this thread's own


def _owner() -> str:
    return f"{socket.gethostname()}/{os.getpid()}.{time.monotonic_ns()}"
