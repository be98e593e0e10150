"""Remedy for a source without events: the token that can post them, or how to create one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.auth import tokens

PUSH = "push"


def with_token(connector: str, parameters: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """The result of a test, which does not ask for a token where the source has one."""
    source = str(parameters.get("source", "")).strip()
    known = tokens.of_source(source) if connector == PUSH and source else []
    for finding in found["findings"]:
        if known and finding["subject"] == "events" and not finding["well"]:
            finding["remedy"] = (
                f"The token {known[0].name} can post events of {source}: "
                "post one as docs/push.md shows, and test again."
            )
    return found
