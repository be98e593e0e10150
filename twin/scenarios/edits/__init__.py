"""What-if edits: each verb is one class, which maps a scenario state to a new one.

An edit takes effect at a given time, `at_ms` (0: from the beginning), and is unknown before: a scheduler that plans
ahead sees a server fail when it fails. Edits apply in the order of their times; ties apply in the given order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from scheduling.kernel.menus import Menu, defined
from scheduling.kernel.parameters import UnknownName, parse_declared
from scheduling.model.values import ModelError, shorten
from twin.scenarios.edits.base import Edit, ScenarioState

MAX_EDITS = 200  # of a scenario
EXAMPLE = 'for example {"verb": "fail_servers", "at_ms": 3600000, "servers": "w00"}'


MENU: Menu[type[Edit]] = Menu("verb", __name__, lambda module: [(cls.name, cls) for cls in defined(module, Edit)])
verbs = MENU.available  # {name: class of edits}


def parse(given: Sequence[Any], epoch_ms: int | None = None) -> list[Edit]:
    """Plain edits `{verb, at_ms, off, ...}` in their order, without those switched off; ModelError names one.

    epoch_ms: Scenario.epoch_ms, with which their sentences and messages state times of the real world.
    """
    if len(given) > MAX_EDITS:
        raise ModelError(f"a scenario has at most {MAX_EDITS:,} edits, got {len(given):,}")
    found = [(parse_one(number, plain, epoch_ms), plain) for number, plain in enumerate(given, start=1)]
    return [edit for edit, plain in found if not plain.get("off")]


def plain(edit: Edit) -> dict[str, Any]:
    """The inverse of `parse`."""
    return {"verb": edit.name, "at_ms": edit.at_ms, **asdict(edit.parameters)}


class Stage(NamedTuple):
    """Scenario state from a given time on, with the edits that led to it as sentences."""

    at_ms: int
    state: ScenarioState
    sentences: tuple[str, ...]


def phases(base: ScenarioState, edits: Sequence[Edit], *, check: bool = True) -> list[Stage]:
    """Stages in the order of time, the first from 0 on. base: scenario state without edits.

    Before a stage begins, its jobs are those of the previous stage, and servers keep their indices. ModelError if an
    edit is impossible at its time. check: whether the results can be simulated, which old runs need not.
    """
    found = [Stage(0, base, ())]
    for edit in sorted(edits, key=lambda edit: edit.at_ms):
        last = found[-1]
        state = (edit.checked if check else edit.applied)(last.state)
        same = last.at_ms == edit.at_ms
        if same:
            found.pop()
        found.append(Stage(edit.at_ms, state, (*(last.sentences if same else ()), edit.sentence())))
    return found


def parse_one(number: int, given: Any, epoch_ms: int | None = None) -> Edit:
    """The edit at that position, also if it is switched off."""
    if not isinstance(given, Mapping) or not isinstance(given.get("verb"), str):
        raise ModelError(f"edit {number}: must be an object with a verb, got {str(given)[:80]!r}; {EXAMPLE}")
    try:
        cls = MENU.named(given["verb"])
    except UnknownName as error:
        raise type(error)(f"edit {number}: {error}") from error
    at_ms = given.get("at_ms", 0)
    if isinstance(at_ms, bool) or not isinstance(at_ms, int) or not 0 <= at_ms <= 2**53:
        raise ModelError(f"edit {number}: at_ms must be an integer from 0 to 2^53 ms, got {shorten(repr(at_ms))}")
    if not isinstance(given.get("off", False), bool):
        raise ModelError(f"edit {number}: off must be true or false, got {shorten(repr(given['off']))}")
    values = {key: value for key, value in given.items() if key not in ("verb", "at_ms", "off")}
    edit = cls(at_ms, None, number, epoch_ms)
    try:
        parameters = parse_declared(edit.subject, cls.Parameters, values)
    except ModelError as error:
        raise ModelError(str(error) if str(error).startswith(edit.subject) else f"{edit.subject}: {error}") from error
    return replace(edit, parameters=parameters)
