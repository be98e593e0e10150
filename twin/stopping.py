"""One flag that a worker and its pool children share: set when the worker was asked to stop, read at every batch."""

import mmap

_flag = mmap.mmap(-1, 1)  # anonymous memory that a fork shares


def ask() -> None:
    """Slices end at their next batch from now on."""
    _flag[0] = 1


def asked() -> bool:
    """True when this worker is stopping."""
    return _flag[0] == 1


def withdraw() -> None:
    """Clears the flag: a process that goes on (tests)."""
    _flag[0] = 0
