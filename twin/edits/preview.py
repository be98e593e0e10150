"""What a list of edits says and does, line by line, though some of them may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling.model import LARGEST, Cluster, ModelError
from scheduling.registry import UnknownName
from twin.edits import MOST_EDITS, parse_one
from twin.edits.base import Edit, World
from twin.edits.effect import effect


def preview(base: World, given: Sequence[Any]) -> tuple[list[dict[str, Any]], World]:
    """Of each edit {sentence, effect, error, off} in the order given, and the world that they make; effects are those of its place in time.

    An edit with an error is passed over, as one that is switched off; what follows is told as if it were not there.
    """
    if len(given) > MOST_EDITS:
        raise ModelError(f"a scenario has at most {MOST_EDITS} edits, got {len(given)}")
    rows: list[dict[str, Any]] = [{"sentence": "", "effect": {}, "error": "", "off": False} for _ in given]
    edits: list[Edit] = []
    for number, plain in enumerate(given, start=1):
        row = rows[number - 1]
        try:
            edit = parse_one(number, plain)
        except (ModelError, UnknownName) as error:
            row["error"] = _without_subject(str(error))
            continue
        row["sentence"], row["off"] = edit.sentence(), bool(plain.get("off"))
        if not row["off"]:
            edits.append(edit)
    world = base
    for edit in sorted(edits, key=lambda edit: edit.at_ms):
        row = rows[edit.number - 1]
        try:
            after = edit.checked(world)
        except (ModelError, UnknownName) as error:
            row["error"] = _without_subject(str(error))
            continue
        row["effect"] = effect(world, after)
        world = after
    return rows, world


def marks(before: Cluster, after: Cluster) -> dict[str, str]:
    """{server: added, removed, away or resized} of the servers that are others at the end."""
    old = {server.name: server for server in before.servers}
    found = dict.fromkeys(old.keys() - {server.name for server in after.servers}, "removed")
    for server in after.servers:
        was = old.get(server.name)
        if was is server:
            continue
        if any(end >= LARGEST for _, end in server.away):
            found[server.name] = "removed"
        elif was is None:
            found[server.name] = "added"
        elif was.away != server.away:
            found[server.name] = "away"
        elif was != server:
            found[server.name] = "resized"
    return found


def _without_subject(message: str) -> str:
    """The number and the name of the edit stand beside it."""
    head, colon, rest = message.partition(": ")
    return rest if colon and head.startswith("edit ") else message
