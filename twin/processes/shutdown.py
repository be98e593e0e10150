"""Early end of work: a flag of a worker and its pool children, read at every batch; and the end of a pool child.

A pool child that ends itself does so by a signal that nobody else uses, so that its worker does not log it as a fault.
"""

import logging
import mmap
import os
import signal

log = logging.getLogger(__name__)
_pool_child = False
OWN_END = signal.SIGUSR2

_flag = mmap.mmap(-1, 1)  # anonymous memory that a fork shares


def ask() -> None:
    """Request that slices end at their next batch."""
    _flag[0] = 1


def asked() -> bool:
    """True if this worker is stopping."""
    return _flag[0] == 1


def in_pool() -> None:
    """Registration of this process as a child of a worker's pool, which replaces it when it ends."""
    global _pool_child
    _pool_child = True
    signal.signal(OWN_END, signal.SIG_DFL)


def free_process() -> None:
    """End of this process in the middle of a computation that it no longer holds, if it is a pool child."""
    if _pool_child:
        log.warning("this process ends with a computation that was cancelled or that another process continues")
        os.kill(os.getpid(), OWN_END)


class WithoutOwnEnds(logging.Filter):
    """Filter of a worker's log: a child that has ended itself was announced by a warning and is no error."""

    def filter(self, record: logging.LogRecord) -> bool:
        return OWN_END.name not in record.getMessage()
