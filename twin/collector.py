"""Python's cycle collector, out of the way of work that makes no cycles (it took a quarter of a run's time)."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No collection inside: for a bounded batch of events and bars, which hold no cycles and die by their counts."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def spare() -> None:
    """What lives now (the jobs of a scenario, a million small objects) is not looked at again; counts still free it."""
    gc.freeze()
