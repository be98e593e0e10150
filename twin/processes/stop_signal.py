"""Event that stops a process: signals such as SIGTERM set it."""

from __future__ import annotations

import signal
import threading
from queue import SimpleQueue


def stop_on(*numbers: signal.Signals) -> threading.Event:
    """Event that is set when one of the signals arrives. Only the main thread can call this function.

    Another thread sets it. A signal handler interrupts the main thread at any point, even while Event.wait holds the
    lock of the event; Event.set in the handler would then wait for this lock forever. SimpleQueue.put takes no such
    lock.
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
