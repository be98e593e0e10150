"""Polling: reads a cluster every interval and at once after a hint, within a bound on the time of its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

MAX_SHARE = 0.25  # of the time that may be spent in calls
MAX_SILENCE_MS = 5000  # between two signs of life
MAX_SOON = 5  # polls in a row that came soon after another one
SOON_MS = 100  # the first of them; each further one comes after twice the time

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Pace(Generic[Result]):
    """The means of a polling loop; a test gives its own clock.

    take         takes one snapshot of the cluster
    now_ms       a clock that never goes back
    wait         waits up to n ms; True at once when a hint has come
    silence      sign of life when there is nothing to say
    unsettled    whether a snapshot shows something that is about to change (a job that completes): then the next poll
                 comes soon
    """

    take: Callable[[], Result]
    now_ms: Callable[[], int]
    wait: Callable[[int], bool]
    silence: Callable[[], Result]
    unsettled: Callable[[Result], bool] = lambda result: False


def poll(pace: Pace[Result], interval_ms: int) -> Iterator[Result]:
    """Results of polling for ever, the first time after one interval; between long intervals signs of life."""
    due_ms, free_ms, soon = pace.now_ms() + interval_ms, pace.now_ms(), 0
    reported_ms = pace.now_ms()
    while True:
        now = pace.now_ms()
        if now < due_ms:
            if pace.wait(min(due_ms - now, reported_ms + MAX_SILENCE_MS - now)):
                due_ms, soon = free_ms, 0
            elif pace.now_ms() >= reported_ms + MAX_SILENCE_MS and pace.now_ms() < due_ms:
                reported_ms = pace.now_ms()
                yield pace.silence()
            continue
        result = pace.take()
        reported_ms = pace.now_ms()
        rest_ms = round((reported_ms - now) * (1 / MAX_SHARE - 1))
        free_ms = reported_ms + rest_ms
        soon = soon + 1 if pace.unsettled(result) else 0
        pause_ms = SOON_MS << (soon - 1) if 0 < soon <= MAX_SOON else interval_ms
        due_ms = max(now + min(pause_ms, interval_ms), free_ms)
        yield result
