"""Control of Python's garbage collector, for work that makes no cycles (it took a quarter of a run's time)."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Context without garbage collection: for a bounded batch of events and bars, which have no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def serve() -> None:
    """Settings of a process that serves many connections: their tasks in flight are no reason for a collection.

    With 1,000 sockets a full one took 0.2 s, every 3 s. A larger first threshold makes collections of the youngest
    objects long (50 ms at 50,000). Call it when everything is imported.
    """
    gc.set_threshold(5_000, 20, 100)
    gc.freeze()


def spare() -> None:
    """Exclusion of the current objects (a million of a scenario) from collection; reference counts still free them."""
    gc.freeze()
