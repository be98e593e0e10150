"""Assignment of machines to the groups of Algorithm 1, with the fewest moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scheduling.colocation.selection.grouping import Groups
from scheduling.colocation.site_pool import Change, Pool


class Inherited(NamedTuple):
    """Jobs and machines of an old group."""

    jobs: set[int]
    servers: list[int]


def hand_over(
    pool: Pool, change: Change, old: Sequence[int], jobs: list[int], groups: Groups | None, new_id: Callable[[], int]
) -> None:
    """Assignment of the machines of old groups and of idle ones to `groups`, of positions in `jobs`.

    A new group takes over the number and the machines of the old one with which it shares most jobs, the largest first.
    Machines that are left over, those with the highest numbers, go where some are missing, lowest first.
    """
    free = set(pool.idle)
    inherited = {id_: Inherited(set(pool.groups[id_].jobs), list(pool.groups[id_].servers)) for id_ in old}
    parts = (
        [([jobs[p] for p in own], m) for own, m in zip(groups.lists(), groups.machines.tolist(), strict=True)]
        if groups
        else []
    )
    parts.sort(key=lambda part: (-part[1], part[0]))
    takes: list[tuple[int, list[int], int, list[int]]] = []
    for own, count in parts:
        id_ = max(inherited, key=lambda g: (len(inherited[g].jobs & set(own)), -g), default=None)
        if id_ is None or not inherited[id_].jobs & set(own):
            id_, servers = new_id(), []
        else:
            servers = inherited.pop(id_).servers
        takes.append((id_, own, count, servers[:count]))
        free.update(servers[count:])
    for _, servers in inherited.values():
        free.update(servers)
    staying = {job for own, _ in parts for job in own}
    for id_ in old:
        for job in pool.groups[id_].jobs:
            if job not in staying:
                pool.leave(change, job)
        if id_ in inherited:
            pool.dissolve(change, id_)
    spare = sorted(free)
    for id_, own, count, servers in takes:
        missing = count - len(servers)
        pool.place(change, id_, servers + spare[:missing], own)
        spare = spare[missing:]
