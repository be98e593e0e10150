"""Named numpy columns and plain data in one byte string: the payload of logs, checkpoints and snapshots.

Layout: ``TWN1``, little-endian uint32 length of the header, the header (JSON, padded with blanks to 8 bytes), then each
column's raw little-endian bytes, each padded to 8. Header: {"meta": any JSON, "columns": [[name, dtype, shape,
offset]]} with offsets from the end of the header. A compact column of integers has two more values, base and step: each
of its values is base + step x stored, and where all are equal nothing is stored (dtype "").
static/js/core/columns/column-codec.js reads the same layout.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

MAGIC = b"TWN1"


def pack(meta: Any, columns: Mapping[str, np.ndarray], *, compact: bool = False) -> bytes:
    """`meta` (plain JSON data) and arrays as bytes. compact: arrays of integers are stored as narrow as each can be."""
    described: list[list[Any]] = []
    chunks, offset = [], 0
    for name, column in columns.items():
        stored, *scale = _narrow(column) if compact and column.dtype.kind in "iu" else (column,)
        little = stored.dtype.newbyteorder("<")
        raw = np.ascontiguousarray(stored, dtype=little).tobytes()
        described.append([name, little.str if raw or not scale else "", list(column.shape), offset, *scale])
        padding = -len(raw) % 8
        chunks += [raw, b"\0" * padding]
        offset += len(raw) + padding
    header = orjson.dumps({"meta": meta, "columns": described})
    header += b" " * (-(len(header) + 8) % 8)
    return b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *chunks])


def unpack(data: bytes | memoryview) -> tuple[Any, dict[str, np.ndarray]]:
    """The inverse of `pack`; the arrays are read-only views on `data`. ValueError when it is not such a payload."""
    view = memoryview(data)
    start, header = _header(view)
    arrays = {name: _column(view, start, *described) for name, *described in header["columns"]}
    return header["meta"], arrays


def unpack_meta(data: bytes | memoryview) -> Any:
    """The `meta` of a payload, without reading the arrays."""
    return _header(memoryview(data))[1]["meta"]


def unpack_column(data: bytes | memoryview, name: str) -> np.ndarray | None:
    """One array of a payload, without reading `meta`; None where there is none of this name."""
    view = memoryview(data)
    start = _start(view)
    text = bytes(view[8:start])
    for described in orjson.loads(text[text.rindex(b'"columns":') + len(b'"columns":') :].rstrip(b" ")[:-1]):
        if described[0] == name:
            return _column(view, start, *described[1:])
    return None


def header_text(data: bytes | memoryview) -> bytes:
    """The JSON text of a payload's header, to search it before it is read."""
    view = memoryview(data)
    return bytes(view[8 : _start(view)])


def _header(view: memoryview) -> tuple[int, Any]:
    """Header of a payload, and the offset of the arrays."""
    start = _start(view)
    return start, orjson.loads(view[8:start])


def _start(view: memoryview) -> int:
    """Offset of the arrays."""
    if bytes(view[:4]) != MAGIC:
        raise ValueError(f"not a column payload: it begins with {bytes(view[:4])!r}, not {MAGIC!r}")
    return 8 + int.from_bytes(view[4:8], "little")


def _column(view: memoryview, start: int, dtype: str, shape: list[int], offset: int, *scale: int) -> np.ndarray:
    count = math.prod(shape)
    if not dtype:
        column = np.full(count, scale[0], dtype=np.int64)
    else:
        column = np.frombuffer(view, dtype=dtype, count=count, offset=start + offset)
        if scale:
            column = column.astype(np.int64) * scale[1] + scale[0]
    return column if len(shape) == 1 else column.reshape(shape)


def _narrow(column: np.ndarray) -> tuple[np.ndarray, int, int]:
    """(unsigned integers of the smallest type, base, step) of integers; values all equal store nothing."""
    if not column.size:
        return np.empty(0, dtype=np.uint8), 0, 1
    base, largest = int(column.min()), int(column.max())
    if base == largest:
        return np.empty(0, dtype=np.uint8), base, 1
    above = column - base
    step = int(np.gcd.reduce(above, axis=None))
    return (above // step).astype(np.min_scalar_type((largest - base) // step)), base, step


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
