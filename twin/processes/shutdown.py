"""Early end of work: a flag of a worker and its pool children, read at every batch; and the end of a pool child."""

import logging
import mmap
import os
import signal

log = logging.getLogger(__name__)
_pool_child = False

_flag = mmap.mmap(-1, 1)  # anonymous memory that a fork shares


def ask() -> None:
    """Request that slices end at their next batch."""
    _flag[0] = 1


def asked() -> bool:
    """True if this worker is stopping."""
    return _flag[0] == 1


def withdraw() -> None:
    """Reset of the flag in a process that continues (tests)."""
    _flag[0] = 0


def in_pool() -> None:
    """Registration of this process as a child of a worker's pool, which replaces it when it ends."""
    global _pool_child
    _pool_child = True


def free_process() -> None:
    """End of this process in the middle of a cancelled computation, if it is a pool child."""
    if _pool_child:
        log.warning("a cancelled computation ends with its process")
        os.kill(os.getpid(), signal.SIGKILL)
