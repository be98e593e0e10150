"""Cache of values in this process, each computed once at a time, with a bound on the total bytes."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from twin.infra.memory_size import measured

MAX_BYTES = 96_000_000  # of all values together, beside one that alone is larger
MEASURE_AGAIN_S = 1.0
V = TypeVar("V")


class _Entry(NamedTuple):
    value: Any
    bytes: int
    measured: float  # time.monotonic() when


class Kept:
    """Cache of values by key; beyond `max_bytes` the least recently used one is dropped first.

    A value may grow while it is kept: its size is measured again on use, unless it was measured a moment ago.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, measure_again_s: float = MEASURE_AGAIN_S) -> None:
        self.max_bytes, self.measure_again_s = max_bytes, measure_again_s
        self._values: OrderedDict[Hashable, _Entry] = OrderedDict()  # the last one used is last
        self._taken: dict[Hashable, tuple[int, float]] = {}  # bytes and time of measurement of values that were taken
        self._lock = threading.Lock()
        self._locks: WeakValueDictionary[Hashable, _KeyLock] = WeakValueDictionary()  # while in use

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Value, computed if it is missing; concurrent callers wait instead of computing it too."""
        with self.lock(key):
            with self._lock:
                entry = self._values.get(key)
                if entry is not None and time.monotonic() - entry.measured < self.measure_again_s:
                    self._values.move_to_end(key)
                    return entry.value
            return self.put(key, make() if entry is None else entry.value)

    def lock(self, key: Hashable) -> _KeyLock:
        """Lock under which the value is computed or changed."""
        with self._lock:
            return self._locks.setdefault(key, _KeyLock())

    def take(self, key: Hashable) -> Any:
        """The value, no longer kept; None when there is none."""
        with self._lock:
            entry = self._values.pop(key, None)
            if entry is not None:
                self._taken[key] = entry.bytes, entry.measured
        return None if entry is None else entry.value

    def put(self, key: Hashable, value: V, same: bool = False) -> V:
        """Storage of the value as the most recent one; others are dropped until all fit.

        same: it was taken and has not changed, so it has its size.
        """
        size = self._taken.pop(key, None)
        entry = _Entry(value, *size) if same and size else _Entry(value, measured(value), time.monotonic())
        with self._lock:
            self._values[key] = entry
            self._values.move_to_end(key)
            self._drop()
        return value

    def _drop(self) -> None:
        """Removal of the least recently used values: all larger than the bound but one, and others beyond the bound."""
        larger = [key for key, entry in self._values.items() if entry.bytes > self.max_bytes]
        for key in larger[:-1]:
            del self._values[key]
        others = [key for key in self._values if key not in larger]
        size = sum(self._values[key].bytes for key in others)
        while size > self.max_bytes:
            size -= self._values.pop(others.pop(0)).bytes

    def clear(self, kind: str | None = None) -> None:
        """Removal of all values, or of those whose key begins with `kind`."""
        with self._lock:
            for key in [key for key in self._values if kind is None or (isinstance(key, tuple) and key[0] == kind)]:
                del self._values[key]
            self._taken.clear()

    @property
    def bytes(self) -> int:
        """Bytes of all values, as measured at their last use."""
        with self._lock:
            return self._bytes()

    def _bytes(self) -> int:
        return sum(entry.bytes for entry in self._values.values())

    def __len__(self) -> int:
        return len(self._values)


class _KeyLock:
    """Reentrant lock that is removed with its last user."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


KEPT = Kept()
