"""The one cluster about which something can be proved for a run whose world changed on the way.

A bound on the best schedule holds for every schedule of a cluster that could do at least as much at any time: servers
with the most they ever had, there whenever they were. What no such cluster can stand for is said, and nothing is
claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduling.kernel.registry import build
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, Server
from twin.scenarios.edits import Stage


def bounding(stages: Sequence[Stage]) -> tuple[BaseScheduler, Cluster] | str:
    """The scheduler and the cluster to prove something about, or why there are none.

    Absences only grow from one world to the next, so those of the last hold for all.
    """
    schedulers = [build(stage.world.scheduler, stage.world.parameters) for stage in stages]
    last = stages[-1].world.cluster
    if len(stages) == 1:
        return schedulers[0], last
    about = {
        (
            scheduler.model.claim(scheduler, stage.world.cluster),
            scheduler.model.training(scheduler, stage.world.cluster),
        )
        for scheduler, stage in zip(schedulers, stages, strict=True)
    }
    if len(about) > 1:
        return "an edit changed the execution model, and one bound cannot cover both models"
    if len({stage.world.cluster.unlimited_cloud for stage in stages}) > 1:
        return "an edit switched the cloud"
    servers = list(last.servers)
    for stage in stages[:-1]:
        for i, server in enumerate(stage.world.cluster.servers):
            if _fixed(server) != _fixed(servers[i]):
                return f"an edit changed the network or the workers of server {server.name}"
            capacity = tuple(map(max, server.capacity, servers[i].capacity))
            servers[i] = replace(servers[i], capacity=capacity)  # type: ignore[arg-type]  # five amounts
    return schedulers[-1], replace(last, servers=tuple(servers))


def _fixed(server: Server) -> Server:
    """The server without what may differ between two worlds."""
    return replace(server, capacity=(0, 0, 0, 0, 0), away=())
