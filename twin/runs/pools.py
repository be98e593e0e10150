"""Two workers for runs: one for quick slices, one for runs of which a single computation takes long.

A decision cannot be interrupted. So that no other run waits behind it, a process of the quick worker that has computed
for MAX_QUICK_S hands its run over to the other worker and ends itself; its worker replaces it. The run continues from
its log there, and returns when its computations are short again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection
from django.db.models import F

from twin.models import Run
from twin.processes import shutdown
from twin.processes.dispatch import send

log = logging.getLogger(__name__)
QUICK, LONG = "runs", "long"  # queues
# of processor time, for one computation of the quick worker: a busy machine makes no computation longer
MAX_QUICK_S = 0.5
CHECK_S = 0.1
NICENESS = 5  # of the worker for long computations: slices of other runs come first

_yields = False


def yields() -> bool:
    """True if this process hands long computations over."""
    return _yields


def set_yields(value: bool) -> None:
    """Declaration that this process is a child of the quick worker, and another worker exists."""
    global _yields
    _yields = value


def queue_of(run_id: int) -> str:
    """The queue of the worker that the run belongs to now."""
    return LONG if Run.objects.filter(pk=run_id, slow=True).exists() else QUICK


class Watch:
    """Timer of the computations of one slice, which hands the run over when one of them takes long."""

    def __init__(self, run: Run, task: str) -> None:
        self.pk, self.epoch, self.task = run.pk, run.epoch, task
        self.longest_s = 0.0
        self.began: float | None = None  # the computation in progress, in processor time
        self.lock = threading.Lock()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, name=f"watch-{run.pk}", daemon=True)

    def __enter__(self) -> Watch:
        if _yields:
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        if self.thread.is_alive():
            self.thread.join()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Context of one computation. Waits for the database are outside of it."""
        self.began = began = time.process_time()
        try:
            yield
        finally:
            with self.lock:  # not while the run is being handed over
                self.began = None
            self.longest_s = max(self.longest_s, time.process_time() - began)

    def _run(self) -> None:
        while not self.done.wait(CHECK_S):
            with self.lock:
                if self.began is not None and time.process_time() - self.began > MAX_QUICK_S and self._hand_over():
                    return

    def _hand_over(self) -> bool:
        """Removal of the run from this process; False if the database does not accept it now."""
        try:
            mine = Run.objects.filter(pk=self.pk, epoch=self.epoch)
            if mine.update(slow=True, epoch=F("epoch") + 1, lease_until=None, lease_owner=""):
                log.info("run %s moves to the worker for long decisions", self.pk)
                send(self.task, self.pk, queue=LONG, expires=60)
        except DatabaseError as error:
            log.warning("run %s could not be moved yet: %s", self.pk, error)
            return False
        finally:
            connection.close()  # this thread's own
        shutdown.free_process()
        return True
