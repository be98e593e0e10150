"""Clusters over time, from the newest one and the changes that its servers have gone through while it ran."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from scheduling.model.values import Cluster, Demand


class Resize(NamedTuple):
    """Change of a server's capacity."""

    at_ms: int
    server: int
    was: Demand | None  # capacity until then; None: the server was added


def clusters_of(cluster: Cluster, resizes: Iterable[Resize]) -> list[tuple[int, Cluster]]:
    """(start in ms, cluster) of each time between two changes, in order; the last one is the cluster itself.

    resizes: those of a time in their order. The outages are those of the newest cluster, which knows all of them.
    """
    found, then, servers = [], cluster, list(cluster.servers)
    newest_first = sorted(resizes, key=lambda resize: resize.at_ms)[::-1]
    for at_ms, together in groupby(newest_first, key=lambda resize: resize.at_ms):
        if at_ms <= 0:
            break
        found.append((at_ms, then))
        for _, server, was in together:
            if was is None:
                servers.pop()  # servers that are added are the last ones
            else:
                servers[server] = replace(servers[server], capacity=was)
        then = replace(cluster, servers=tuple(servers))
    return [(0, then), *found[::-1]]
