"""The size of a value in memory with all that it holds, measured on a sample where containers are long."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

SAMPLE = 32  # elements of a longer container that are measured; the others count as much on average
SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)  # code, which nobody holds alone


def measured(value: Any) -> int:
    """Bytes of the value and of what it refers to; what it refers to twice counts once."""
    return _measured(value, set())


def _measured(value: Any, seen: set[int]) -> int:
    if id(value) in seen or isinstance(value, SHARED):
        return 0
    seen.add(id(value))
    own = sys.getsizeof(value)
    if isinstance(value, np.ndarray):
        own = max(own, value.nbytes)  # a view holds what it looks at
        return own + (_sampled(value.reshape(-1), value.size, seen) if value.dtype == object else 0)
    if isinstance(value, str | bytes | bytearray | int | float):
        return own
    if isinstance(value, Mapping):
        return own + _sampled(value.keys(), len(value), seen) + _sampled(value.values(), len(value), seen)
    if isinstance(value, list | tuple | set | frozenset):
        return own + _sampled(value, len(value), seen)
    return own + sum(_measured(part, seen) for part in _attributes(value))


def _sampled(parts: Iterable[Any], count: int, seen: set[int]) -> int:
    """Size of the parts: of all if they are few, otherwise from evenly spaced samples."""
    if count <= SAMPLE:
        return sum(_measured(part, seen) for part in parts)
    chosen = list(islice(parts, 0, None, count // SAMPLE))
    return sum(_measured(part, seen) for part in chosen) * count // len(chosen)


def _attributes(value: Any) -> Iterable[Any]:
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    return [*getattr(value, "__dict__", {}).values(), *(getattr(value, name) for name in slots if hasattr(value, name))]
