"""The servers that a mirror knows."""

from __future__ import annotations

from twin.mirror.as_values import server_of
from twin.mirror.differ import Mirror


def servers_of(mirror: Mirror):
    return [server_of(node.fact, mirror.sites.site(node.fact), node.away) for node in mirror.nodes.values()]
