"""Parameters of schedulers as they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from scheduling.kernel.parameters import title_of
from scheduling.kernel.registry import schedulers
from scheduling.reporting.quantities import duration

YES = ("true", "yes", "1", "on")  # as scheduling.kernel.parameters reads them


def parameter_texts(scheduler: str, given: Mapping[str, Any]) -> list[str]:
    """Values with titles and units: "Half life 1h"; with their names if this version lacks scheduler or parameter."""
    known = schedulers().get(scheduler)
    declared = {f.name: f.metadata for f in fields(known.Parameters)} if known else {}
    return [
        f"{title_of(name, declared[name])} {_value_text(declared[name], value)}"
        if name in declared
        else f"{name} {value}"
        for name, value in given.items()
    ]


def _value_text(metadata: Mapping[str, Any], value: Any) -> str:
    """Value, which may be a text: the title of a choice, "yes" or "no", a duration, or the value with its unit."""
    if metadata["type"] is bool:
        return "yes" if str(value).lower() in YES else "no"
    if value in metadata["choice_titles"]:
        return str(metadata["choice_titles"][value])
    if metadata["unit"] == "ms" and str(value).isdecimal():
        return duration(int(value))
    return f"{value} {metadata['unit']}".rstrip()
