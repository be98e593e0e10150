"""Parameters, declared as fields of a dataclass; forms, API, command-line help and validation are made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from scheduling.model.values import ModelError, shorten

TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}  # in messages


class UnknownName(ValueError):
    """Error for an unknown scheduler or parameter; the message lists the known names."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Base of a scheduler's parameters. Each field is declared with :func:`parameter`."""

    def __post_init__(self) -> None:
        for f in fields(self):
            check_parameter(f.name, f.metadata, getattr(self, f.name))


def parse_declared(subject: str, declared: type, given: Mapping[str, Any]) -> Any:
    """`given` (strings as typed, or values) as an instance of `declared`, a dataclass whose fields are `parameter`s."""
    known = {f.name: f for f in fields(declared)}
    values: dict[str, Any] = {}
    for key, raw in given.items():
        if key not in known:
            hint = f"known: {', '.join(known)}" if known else "it has no parameters"
            raise UnknownName(f"{subject}: unknown parameter {key!r}; {hint}")
        values[key] = _convert(subject, key, known[key].metadata, raw)
    return declared(**values)


def describe(declared: type) -> list[dict[str, Any]]:
    """Declarations of all `parameter` fields of a dataclass as plain data."""
    rows = []
    for f in fields(declared):
        default = None if f.default is MISSING else f.default
        rows.append(
            {
                "name": f.name,
                "title": title_of(f.name, f.metadata),
                "default": default,
                **{k: v for k, v in f.metadata.items() if k not in ("type", "choice_titles", "left_out")},
                "type": f.metadata["type"].__name__,
                **({"titles": dict(f.metadata["choice_titles"])} if f.metadata["choices"] else {}),
            }
        )
    return rows


def title_of(name: str, metadata: Mapping[str, Any]) -> str:
    """Label of a parameter: the declared title, or its name in words without the unit ("half_life_ms": "Half life")."""
    words = name.removesuffix(f"_{metadata['unit']}").replace("_", " ")
    return metadata.get("title") or words[:1].upper() + words[1:]


def _named(name: str, metadata: Mapping[str, Any]) -> str:
    """Name of a parameter in messages, followed by its label if the two differ: 'for_ms (Duration)'."""
    title = title_of(name, metadata)
    return name if title == title_of(name, {"unit": metadata["unit"]}) else f"{name} ({title})"


def parameter(default: Any, help: str, *, type: type | None = None, low: float | None = None, high: float | None = None,
              choices: Sequence[str] | Mapping[str, str] | None = None, left_out: str = "", unit: str = "",
              title: str = "") -> Any:  # fmt: skip
    """Declaration of a parameter: type, default, range or choices, unit, help, and title if its name is not a label.

    choices: {value: title}, or the values where these in words are titles. left_out: the end of a sentence about
    choices that are not available here (`Menu.notice`).
    """
    kind = type or default.__class__
    titles = choices if isinstance(choices, Mapping) else {value: _words(value) for value in choices or ()}
    metadata: dict[str, Any] = {
        "type": kind, "help": help + left_out, "low": low, "high": high, "choices": list(choices) if choices else None,
        "unit": unit, "optional": default is None, "choice_titles": titles, "left_out": left_out,
    }  # fmt: skip
    if title:
        metadata["title"] = title
    return field(default=default, metadata=metadata)


def _words(value: str) -> str:
    words = value.replace("_", " ").replace("-", " ")
    return words[:1].upper() + words[1:]


def _amount(bound: float, metadata: Mapping[str, Any]) -> str:
    """A bound with the unit of its parameter; × is no unit."""
    text, unit = f"{bound:,.0f}" if float(bound).is_integer() else str(bound), metadata["unit"]
    return text if unit in ("", "×") else f"{text} {unit}"


def check_parameter(name: str, metadata: Mapping[str, Any], value: Any) -> None:
    """Check of a value against the declared range or choices; ModelError if it is outside."""
    if value is None and metadata["optional"]:
        return
    choices, low, high = metadata["choices"], metadata["low"], metadata["high"]
    if choices and value not in choices:
        listed = f"{', '.join(choices)}, got {value!r}{metadata['left_out']}"
        raise ModelError(f"parameter {_named(name, metadata)} must be one of {listed}")
    if low is not None and not value >= low:
        raise ModelError(f"parameter {_named(name, metadata)} must be at least {_amount(low, metadata)}, got {value!r}")
    if high is not None and not value <= high:
        raise ModelError(f"parameter {_named(name, metadata)} must be at most {_amount(high, metadata)}, got {value!r}")


_TRUTH = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


def _convert(subject: str, key: str, metadata: Mapping[str, Any], raw: Any) -> Any:
    kind = metadata["type"]
    if (raw is None or raw == "") and metadata["optional"]:
        return None
    try:
        if raw is None:
            raise TypeError(raw)  # None is not the text "None"
        if kind is bool:
            return raw if isinstance(raw, bool) else _TRUTH[str(raw).strip().lower()]
        if kind in (int, float) and isinstance(raw, bool):
            raise TypeError(raw)  # true is not a number, though Python takes it for 1
        if kind is int and isinstance(raw, float) and not raw.is_integer():
            raise ValueError(raw)
        return kind(raw)
    except (ValueError, KeyError, TypeError) as error:
        named = _named(key, metadata)
        raise ModelError(
            f"{subject}: parameter {named} must be {TYPE_NAMES[kind]}, got {shorten(repr(raw))}"
        ) from error
