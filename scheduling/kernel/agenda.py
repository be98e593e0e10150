"""Agenda of a simulation: the next steps, in one heap."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from enum import IntEnum


class Priority(IntEnum):
    """Order of entries at one instant."""

    BEGIN = 0
    COMPLETION = 1
    OUTAGE = 2  # a server leaves or returns
    ARRIVAL = 3
    ALARM = 4
    SLOT = 5
    PHASE = 6
    END = 7


Entry = tuple[int, int, int]  # at_ms, priority, id


class Agenda:
    """Entries (at_ms, priority, id), one for each priority and id. Scheduling one again moves it."""

    def __init__(self) -> None:
        self._heap: list[Entry] = []  # an entry is stale where `due` says otherwise
        self.due: list[dict[int, int]] = [{} for _ in Priority]  # of each priority: id -> at_ms

    def schedule(self, at_ms: int, priority: Priority, id_: int = 0) -> None:
        """Addition of an entry at that time; it replaces an earlier one."""
        due = self.due[priority]
        if due.get(id_) != at_ms:  # else the heap has it
            due[id_] = at_ms
            heapq.heappush(self._heap, (at_ms, priority, id_))

    def cancel(self, priority: Priority, id_: int = 0) -> None:
        """Removal of an entry."""
        self.due[priority].pop(id_, None)

    def clear(self, priority: Priority) -> None:
        """Removal of all entries of this priority."""
        self.due[priority].clear()

    def peek(self) -> Entry | None:
        """Earliest entry, or None."""
        heap, due = self._heap, self.due
        while heap:
            at_ms, priority, id_ = heap[0]
            if due[priority].get(id_) == at_ms:
                return heap[0]
            heapq.heappop(heap)
        return None

    def take(self) -> None:
        """Removal of the entry that `peek` returned."""
        _, priority, id_ = heapq.heappop(self._heap)
        del self.due[priority][id_]

    def entries(self) -> list[Entry]:
        """Entries in their order."""
        return sorted((at_ms, priority, id_) for priority, due in enumerate(self.due) for id_, at_ms in due.items())

    def restore(self, entries: Iterable[Iterable[int]]) -> None:
        """The inverse of `entries`."""
        self._heap = [(at_ms, priority, id_) for at_ms, priority, id_ in entries]  # sorted, so it is a heap
        self.due = [{} for _ in Priority]
        for at_ms, priority, id_ in self._heap:
            self.due[priority][id_] = at_ms
