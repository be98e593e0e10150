"""Division of servers with both roles into worker servers and parameter servers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scheduling.model.values import GPU, Server


def divide_roles(servers: Sequence[Server], worker_share: float) -> tuple[Server, ...]:
    """Cluster in which each server has one role: of those with both the first `worker_share`, GPUs first, host workers.

    Within each kind the choice is spread evenly over the order given, so that no site or rack is left out.
    """
    both = [i for i, s in enumerate(servers) if len(s.roles) > 1]
    wanted = math.ceil(worker_share * len(both))
    with_gpu = [i for i in both if servers[i].capacity[GPU] > 0]
    without = [i for i in both if servers[i].capacity[GPU] == 0]
    of_gpu = min(wanted, len(with_gpu))
    workers = set(_spread(with_gpu, of_gpu)) | set(_spread(without, wanted - of_gpu))
    return tuple(
        s if len(s.roles) == 1 else replace(s, roles=("worker",) if i in workers else ("ps",))
        for i, s in enumerate(servers)
    )


def _spread(items: Sequence[int], count: int) -> list[int]:
    """Selection of `count` items at even distances, including the first one."""
    return [item for k, item in enumerate(items) if -(-(k + 1) * count // len(items)) > -(-k * count // len(items))]
