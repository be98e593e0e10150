"""Walk over running and waiting gangs in their order: who runs next, and who stops for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scheduling.typed_workers.gang_pool import Gang, Key, Pool

LAST: Key = (1 << 62,)  # after every key


class Walk(NamedTuple):
    """Changes of a walk: jobs that start, and jobs that stop, each with its successor."""

    starts: list[int]
    stops: list[tuple[int, int]]


def walk(pool: Pool, gangs: Mapping[int, Gang], running: Sequence[tuple[Key, int]], ahead: int) -> Walk:
    """Jobs that should run, in order: of each size only the first waiting one can be the next that fits.

    ahead: difference of the first numbers of the ranks of running and of waiting jobs.
    """
    room = pool.total
    heads = dict.fromkeys(pool.waiting, 0)
    starts: list[int] = []
    stops: list[tuple[int, int]] = []
    size, job, first = _first_that_fits(pool, heads, room, ahead)
    for rank, other in running:
        while first < rank:
            starts.append(job)
            room -= size
            heads[size] += 1
            size, job, first = _first_that_fits(pool, heads, room, ahead)
        need = gangs[other].size
        if need <= room:
            room -= need
            if size > room:
                size, job, first = _first_that_fits(pool, heads, room, ahead)
        else:
            stops.append((other, starts[-1] if starts else other))
    while size:
        starts.append(job)
        room -= size
        heads[size] += 1
        size, job, first = _first_that_fits(pool, heads, room, ahead)
    return Walk(starts, stops)


def fill(pool: Pool, gangs: Mapping[int, Gang], ahead: int) -> Walk:
    """Changes after workers became free, without the walk if no job has to stop.

    That is so if only jobs behind all running ones may fit.
    """
    running, room = pool.running, pool.spare
    for size, keys in pool.waiting.items():
        first, at, rank = room, len(running) - 1, moved_by(keys[0], ahead)
        for its_rank, job in reversed(running):
            if rank >= its_rank or first >= size:
                break
            first += gangs[job].size
            at -= 1
        if (first >= size and at < len(running) - 1) or (size <= room and running and rank < running[-1][0]):
            return walk(pool, gangs, running, ahead)
    heads = dict.fromkeys(pool.waiting, 0)
    starts = []
    size, job, _ = _first_that_fits(pool, heads, room, ahead)
    while size:
        starts.append(job)
        room -= size
        heads[size] += 1
        size, job, _ = _first_that_fits(pool, heads, room, ahead)
    return Walk(starts, [])


def moved_by(key: Key, ahead: int) -> Key:
    """Rank of a waiting job among the running jobs."""
    return (key[0] + ahead, *key[1:]) if ahead else key


def _first_that_fits(pool: Pool, heads: dict[int, int], room: int, ahead: int) -> tuple[int, int, Key]:
    """First waiting job that fits, as (size, job, rank among the running jobs); size 0 if there is none."""
    chosen, first = 0, LAST
    for size, head in heads.items():
        if size <= room:
            keys = pool.waiting[size]
            if head < len(keys) and keys[head] < first:
                chosen, first = size, keys[head]
    return (chosen, first[-1], moved_by(first, ahead)) if chosen else (0, -1, LAST)
