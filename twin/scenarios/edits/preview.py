"""Preview of a list of edits, some of which may be invalid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import Cluster, ModelError
from twin.scenarios.edits import MAX_EDITS, parse_one
from twin.scenarios.edits.base import Edit, ScenarioState
from twin.scenarios.edits.effect import effect


def preview(
    base: ScenarioState, given: Sequence[Any], kept: Sequence[Any] = (), epoch_ms: int | None = None
) -> tuple[list[dict[str, Any]], ScenarioState]:
    """Rows {sentence, effect, error, off} in the given order, and the resulting scenario state.

    Effects are relative to the edits before in time. An edit with an error is skipped, like one that is switched off.
    An edit without effect is an error unless it is one of those kept before.
    epoch_ms: Scenario.epoch_ms.
    """
    if len(given) > MAX_EDITS:
        raise ModelError(f"a scenario has at most {MAX_EDITS:,} edits, got {len(given):,}")
    rows: list[dict[str, Any]] = [{"sentence": "", "effect": {}, "error": "", "off": False} for _ in given]
    edits: list[Edit] = []
    for number, plain in enumerate(given, start=1):
        row = rows[number - 1]
        try:
            edit = parse_one(number, plain, epoch_ms)
        except (ModelError, UnknownName) as error:
            row["error"] = _without_subject(str(error))
            continue
        row["sentence"], row["off"] = edit.sentence(), bool(plain.get("off"))
        if not row["off"]:
            edits.append(edit)
    state = base
    for edit in sorted(edits, key=lambda edit: edit.at_ms):
        row = rows[edit.number - 1]
        try:
            after = edit.checked(state) if given[edit.number - 1] in kept else edit.effective(state)
        except (ModelError, UnknownName) as error:
            row["error"] = _without_subject(str(error))
            continue
        row["effect"] = effect(state, after)
        state = after
    return rows, state


def marks(before: Cluster, after: Cluster) -> dict[str, str]:
    """Changed servers as {name: added, removed, away or resized}.

    A server that is removed during the run is away from then on.
    """
    old = {server.name: server for server in before.servers}
    found = dict.fromkeys(old.keys() - {server.name for server in after.servers}, "removed")
    for server in after.servers:
        was = old.get(server.name)
        if was is server:
            continue
        if was is None:
            found[server.name] = "added"
        elif was.away != server.away:
            found[server.name] = "away"
        elif was != server:
            found[server.name] = "resized"
    return found


def _without_subject(message: str) -> str:
    """The message without the number and name of the edit, which are shown separately."""
    head, colon, rest = message.partition(": ")
    return rest if colon and head.startswith("edit ") else message
