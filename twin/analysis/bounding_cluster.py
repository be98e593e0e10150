"""Bounding cluster of a run of several phases, for which a bound can be proved.

A bound on the best schedule holds for every schedule of a cluster that could do at least as much at any time: each
server with its largest capacity, available whenever it was. If no such cluster exists, the reason is stated and no
bound is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, Server
from twin.scenarios.edits import Stage
from twin.scenarios.phase_rules import scheduler_of


def bounding(stages: Sequence[Stage]) -> tuple[BaseScheduler, Cluster] | str:
    """Scheduler and cluster of a bound, or the reason why there are none.

    Outages only grow from one phase to the next, so those of the last hold for all.
    """
    schedulers = [scheduler_of(stage.state) for stage in stages]
    last = stages[-1].state.cluster
    if len(stages) == 1:
        return schedulers[0], last
    about = {
        (
            scheduler.model.claim(scheduler, stage.state.cluster),
            scheduler.model.training(scheduler, stage.state.cluster),
        )
        for scheduler, stage in zip(schedulers, stages, strict=True)
    }
    if len(about) > 1:
        return "an edit changed the execution model, and one bound cannot cover both models"
    if len({stage.state.cluster.unlimited_cloud for stage in stages}) > 1:
        return "an edit switched the unlimited cloud on or off"
    servers = list(last.servers)
    for stage in stages[:-1]:
        for i, server in enumerate(stage.state.cluster.servers):
            if _fixed(server) != _fixed(servers[i]):
                return f"an edit changed the network or the workers of server {server.name}"
            capacity = tuple(map(max, server.capacity, servers[i].capacity))
            servers[i] = replace(servers[i], capacity=capacity)  # type: ignore[arg-type]  # five amounts
    return schedulers[-1], replace(last, servers=tuple(servers))


def _fixed(server: Server) -> Server:
    """Server without the fields that may differ between two phases."""
    return replace(server, capacity=(0, 0, 0, 0, 0), away=())
