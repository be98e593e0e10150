"""Signals that stop a process, even when they arrive inside Event.wait."""

import signal
import threading

import pytest

from twin.processes.stop_signal import stop_on


@pytest.fixture
def stop():
    """Event that SIGUSR1 sets; the previous handler is restored afterwards."""
    before = signal.getsignal(signal.SIGUSR1)
    yield stop_on(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_sets_the_event_once_and_for_all(stop):
    assert not stop.wait(0)
    signal.raise_signal(signal.SIGUSR1)
    assert stop.wait(10)
    signal.raise_signal(signal.SIGUSR1)
    assert stop.is_set()


def test_a_signal_inside_wait_does_not_block_the_process(stop):
    """Event.wait briefly holds the lock of the event; a handler that needs the lock then would never return."""
    with stop._cond:
        signal.raise_signal(signal.SIGUSR1)  # its handler has run when this returns
        assert not stop.is_set()
    assert stop.wait(10)


def test_other_threads_wait_for_the_same_event(stop):
    waiting = threading.Thread(target=stop.wait, args=(10,))
    waiting.start()
    signal.raise_signal(signal.SIGUSR1)
    waiting.join(10)
    assert not waiting.is_alive()
    assert stop.is_set()
