"""Progress of the loops and threads of this process: one that makes none hangs, although its process responds."""

from __future__ import annotations

import threading
import time

_own = threading.local()  # progress of each thread that has one


class Progress:
    """Progress of one loop, noted at each of its steps. `fault` is the fault of a heartbeat (processes/heartbeat.py).

    done: what the loop has not done while it hangs, e.g. "processed runs". limit_s: maximum time of one step.
    """

    def __init__(self, done: str, limit_s: float) -> None:
        self.done, self.limit_s = done, limit_s
        self.noted = (time.monotonic(), 0.0)  # (time of the last step, what the next one may take beyond the limit)

    def note(self, within_s: float = 0.0) -> None:
        """A step. within_s: time limit of a call that follows, beyond the limit of the loop."""
        self.noted = time.monotonic(), within_s

    def own(self) -> None:
        """Calls of the calling thread (`calls`) are steps of this loop from now on."""
        _own.progress = self
        self.note()

    def fault(self) -> str:
        """Fault of a loop that hangs; empty while it runs."""
        at, within_s = self.noted
        stalled_s = time.monotonic() - at
        return f"has not {self.done} for {stalled_s:.0f} s" if stalled_s > self.limit_s + within_s else ""


def calls(within_s: float) -> None:
    """Begin of a call that ends within its time limit: a step of the loop of this thread, if it has one."""
    progress: Progress | None = getattr(_own, "progress", None)
    if progress is not None:
        progress.note(within_s)
