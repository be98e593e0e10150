"""Base class of the ticker's requests for background tasks: each key is requested once, and again if no worker came.

A key whose task a worker computes, or that was cancelled, is not requested (twin/processes/exclusive.py).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from twin.processes import exclusive
from twin.processes.dispatch import send


class TaskRequests(ABC):
    """Times of the requests for the keys that are due."""

    task: ClassVar[str]  # name in twin.tasks
    queue: ClassVar[str]
    again_s: ClassVar[float]  # after which a request that no worker accepted expires and is repeated

    def __init__(self) -> None:
        self.asked: dict[int, float] = {}

    @abstractmethod
    def due(self) -> Iterable[int]:
        """Keys for which the task is due."""

    def refresh(self) -> list[int]:
        """Keys that are due, not in progress and not just requested, and that the broker accepts now."""
        now, skipped = time.monotonic(), exclusive.not_to_request(self.task)
        due = [key for key in self.due() if key not in skipped]
        self.asked = {key: when for key, when in self.asked.items() if key in due}
        found = []
        for key in due:
            may_request = now - self.asked.get(key, float("-inf")) >= self.again_s
            if may_request and send(self.task, key, queue=self.queue, expires=self.again_s):
                self.asked[key] = now
                found.append(key)
        return found


def as_list(key: int | None) -> list[int]:
    """The keys that are due, of which there is at most one."""
    return [] if key is None else [key]
