"""Settings of a connection."""

from __future__ import annotations


def settings_of(recording, **changes):
    sites = {"edge_by": "queue", "edge_pattern": "edge"}
    return {"connector": "replay", "parameters": {"path": str(recording)}, "sites": sites, **changes}
