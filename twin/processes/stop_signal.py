"""Event that stops a process: signals such as SIGTERM set it."""

from __future__ import annotations

import signal
import threading
from queue import SimpleQueue


def stop_on(*numbers: signal.Signals) -> threading.Event:
    """Event that is set when one of the signals arrives; for the main thread.

    Another thread sets it. The handler of a signal interrupts the main thread anywhere, also inside Event.wait; there,
    Event.set would wait forever for the lock that the main thread holds. SimpleQueue.put takes no such lock.
    """
    stop = threading.Event()
    arrived: SimpleQueue[None] = SimpleQueue()

    def forward() -> None:
        arrived.get()
        stop.set()

    threading.Thread(target=forward, name="stop-signal", daemon=True).start()
    for number in numbers:
        signal.signal(number, lambda *_: arrived.put(None))
    return stop
