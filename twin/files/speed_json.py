"""Files of measured speeds: the constants, the errors of the fit, and the settings that were measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import orjson

from scheduling.model.limits import MAX_INT
from scheduling.model.measured_speed import MeasuredSpeed, Setting
from scheduling.model.values import ModelError, shorten

KIND = "measured-speed"
WHOLE = ("batch", "cores")
ANY_SIGN = ("r2",)


def dump_speed(speed: MeasuredSpeed, settings: Sequence[Setting]) -> bytes:
    """JSON with a line for each value."""
    rows = [setting._asdict() for setting in settings]
    return orjson.dumps({"kind": KIND, **asdict(speed), "settings": rows}, option=orjson.OPT_INDENT_2) + b"\n"


def load_speed(path: Path) -> MeasuredSpeed:
    """Speed of a file."""
    return parse_speed(path.read_bytes(), path.name)


def parse_speed(content: bytes | str, name: str) -> MeasuredSpeed:
    """Speed of the content of a file. ModelError states its name, the field and what would work."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ModelError(f"{name}: not JSON: {error}; use a file that manage.py measure_speed wrote") from None
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise ModelError(f'{name}: must be an object with "kind": "{KIND}", as manage.py measure_speed writes it')
    return MeasuredSpeed(**{field.name: _number(name, value, field.name) for field in fields(MeasuredSpeed)})


def _number(name: str, value: dict[str, Any], key: str) -> Any:
    found = value.get(key)
    if key in WHOLE:
        if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= MAX_INT:
            raise ModelError(f"{name}: {key} must be an integer from 1 to 2^53, got {shorten(repr(found))}")
        return found
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise ModelError(f"{name}: {key} must be a number, got {shorten(repr(found))}")
    least = -MAX_INT if key in ANY_SIGN else 0
    if not least <= found <= MAX_INT or (key == "sample_ms" and found == 0):
        rule = "above 0" if key == "sample_ms" else "from 0 to 2^53"
        raise ModelError(f"{name}: {key} must be a number {rule}, got {found!r}")
    return float(found)
