"""Named numpy columns and plain data in one byte string: the payload of logs, checkpoints and snapshots.

Layout: ``TWN1``, little-endian uint32 length of the header, the header (JSON, padded with blanks to 8 bytes), then each
column's raw little-endian bytes, each padded to 8. Header: {"meta": any JSON, "columns": [[name, dtype, shape, offset]]}
with offsets from the end of the header. static/js/lib/columns.js reads the same layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

MAGIC = b"TWN1"


def pack(meta: Any, columns: Mapping[str, np.ndarray]) -> bytes:
    """`meta` (plain JSON data) and arrays as bytes."""
    described, chunks, offset = [], [], 0
    for name, column in columns.items():
        raw = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<")).tobytes()
        described.append([name, column.dtype.newbyteorder("<").str, list(column.shape), offset])
        padding = -len(raw) % 8
        chunks += [raw, b"\0" * padding]
        offset += len(raw) + padding
    header = orjson.dumps({"meta": meta, "columns": described})
    header += b" " * (-(len(header) + 8) % 8)
    return b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *chunks])


def unpack(data: bytes | memoryview) -> tuple[Any, dict[str, np.ndarray]]:
    """The inverse of `pack`; the arrays are read-only views on `data`. ValueError when it is not such a payload."""
    view = memoryview(data)
    if bytes(view[:4]) != MAGIC:
        raise ValueError(f"not a column payload: it begins with {bytes(view[:4])!r}, not {MAGIC!r}")
    start = 8 + int.from_bytes(view[4:8], "little")
    header = orjson.loads(view[8:start])
    arrays = {}
    for name, dtype, shape, offset in header["columns"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(view, dtype=dtype, count=count, offset=start + offset).reshape(shape)
    return header["meta"], arrays


def pack_state(state: Mapping[str, Any]) -> bytes:
    """A scheduler's or a simulation's state: nested dicts and lists of plain data with arrays anywhere."""
    columns: dict[str, np.ndarray] = {}
    return pack(_lift(state, columns), columns)


def unpack_state(data: bytes | memoryview) -> Any:
    """The inverse of `pack_state`; arrays are writable copies, tuples come back as lists, keys as text."""
    meta, columns = unpack(data)
    return _lower(meta, columns)


def _lift(value: Any, columns: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        columns[str(len(columns))] = value
        return {"$array": str(len(columns) - 1)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _lift(item, columns) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_lift(item, columns) for item in value]
    return value


def _lower(value: Any, columns: Mapping[str, np.ndarray]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$array"}:
            return columns[value["$array"]].copy()
        return {key: _lower(item, columns) for key, item in value.items()}
    if isinstance(value, list):
        return [_lower(item, columns) for item in value]
    return value
