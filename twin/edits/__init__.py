"""What-if edits: each verb is one class in one file of this folder, and turns a world into another one.

An edit takes effect at a moment, `at_ms` (0: from the beginning). Until then nobody knows of it: a scheduler that plans ahead
sees a server fail when it fails. Edits apply in the order of their moments, and in the order given where these are equal.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any, NamedTuple

from scheduling.model import ModelError, shorten
from scheduling.registry import UnknownName, parse_declared
from twin.edits.base import Edit, World

MOST_EDITS = 200  # of a scenario


@cache
def verbs() -> Mapping[str, type[Edit]]:
    """{name: class} of every verb in this folder, in alphabetical order."""
    found: dict[str, type[Edit]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, Edit)
                and "name" in vars(value)
                and value.__module__ == module.__name__
            ):
                if value.name in found:
                    raise UnknownName(f"edit {value.name!r} is in {found[value.name].__module__} and in {module.__name__}")
                found[value.name] = value
    return dict(sorted(found.items()))


def parse(given: Sequence[Any]) -> list[Edit]:
    """Plain edits `{verb, at_ms, off, ...}` in their order, without those that are switched off; ModelError names the edit."""
    if len(given) > MOST_EDITS:
        raise ModelError(f"a scenario has at most {MOST_EDITS} edits, got {len(given)}")
    found = [(parse_one(number, plain), plain) for number, plain in enumerate(given, start=1)]
    return [edit for edit, plain in found if not plain.get("off")]


def plain(edit: Edit) -> dict[str, Any]:
    """The inverse of `parse`."""
    return {"verb": edit.name, "at_ms": edit.at_ms, **asdict(edit.parameters)}


class Stage(NamedTuple):
    """A world and from when on it holds, and what made it of the one before, in sentences."""

    at_ms: int
    world: World
    said: tuple[str, ...]


def phases(base: World, edits: Sequence[Edit]) -> list[Stage]:
    """In the order of time, the first from 0 on. base: what holds without edits.

    Up to the moment of the next one, the same jobs arrive in all of them, and servers keep their numbers. ModelError when an
    edit cannot be done where it stands.
    """
    found = [Stage(0, base, ())]
    for edit in sorted(edits, key=lambda edit: edit.at_ms):
        last = found[-1]
        world = edit.checked(last.world)
        same = last.at_ms == edit.at_ms
        if same:
            found.pop()
        found.append(Stage(edit.at_ms, world, (*(last.said if same else ()), edit.sentence())))
    return found


def parse_one(number: int, given: Any) -> Edit:
    """The edit that stands at that place, switched off or not."""
    if not isinstance(given, Mapping) or not isinstance(given.get("verb"), str):
        raise ModelError(f"edit {number}: must be an object with a verb, got {str(given)[:80]!r}")
    cls = verbs().get(given["verb"])
    if cls is None:
        raise UnknownName(f"edit {number}: unknown verb {given['verb']!r}; known: {', '.join(verbs())}")
    at_ms = given.get("at_ms", 0)
    if isinstance(at_ms, bool) or not isinstance(at_ms, int) or not 0 <= at_ms <= 2**53:
        raise ModelError(f"edit {number}: at_ms must be an integer from 0 to 2^53 ms, got {str(at_ms)[:80]!r}")
    if not isinstance(given.get("off", False), bool):
        raise ModelError(f"edit {number}: off must be true or false, got {shorten(repr(given['off']))}")
    values = {key: value for key, value in given.items() if key not in ("verb", "at_ms", "off")}
    edit = cls(at_ms, None, number)
    try:
        parameters = parse_declared(edit.subject, cls.Parameters, values)
    except ModelError as error:
        raise ModelError(str(error) if str(error).startswith(edit.subject) else f"{edit.subject}: {error}") from error
    return replace(edit, parameters=parameters)
