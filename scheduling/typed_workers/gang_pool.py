"""Gangs of open jobs, and the pool of workers of one type that they share."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

Key = tuple[int, ...]


@dataclass(slots=True)
class Gang:
    """Gang of an open job. Times of the gang are ms in which all of its workers run."""

    job: int
    size: int
    left_ms: int  # of the gang, when it last stopped or before its first start
    pool: Pool
    upload_ms: tuple[int, ...] | None  # by server; None: it has its data everywhere
    data: set[int] = field(default_factory=set)  # servers that have it
    worker_slots: list[tuple[int, int]] = field(default_factory=list)  # (server, worker) while it runs
    start_ms: int = -1  # of its current run
    work_ms: int = -1  # from which on its workers run
    stopped_ms: int = -1
    first_ms: int = -1  # of its first run
    executed_ms: int = 0  # before the current run, since its service was last taken from it
    queue: int = 0
    key: Key = ()  # its rank among the waiting jobs, while it waits

    @property
    def finish_ms(self) -> int:
        """Completion time of a running gang."""
        return self.work_ms + self.left_ms

    def ran_ms(self, now_ms: int) -> int:
        """Duration of the current run."""
        return max(0, now_ms - self.work_ms) if self.worker_slots else 0


@dataclass(slots=True)
class Pool:
    """Workers of one type, with the running and the waiting jobs."""

    worker_slots: dict[int, list[int]]  # server -> all workers
    free: dict[int, list[int]]  # server -> free workers, ascending
    most: int  # workers
    total: int  # of available servers
    spare: int  # free workers
    loading_ms: int = 0  # until when any of its jobs may load
    running: list[tuple[Key, int]] = field(default_factory=list)  # (place in the order, job), ascending
    # size -> places in the order, ascending; the job is the last number
    waiting: dict[int, list[Key]] = field(default_factory=dict)

    def show(self, server: int, available: bool) -> None:
        """Addition or removal of the workers of a server, all free."""
        self.free[server] = list(self.worker_slots[server]) if available else []
        change = len(self.worker_slots[server]) * (1 if available else -1)
        self.total += change
        self.spare += change

    def wait(self, gang: Gang, key: Key) -> None:
        """Addition of a gang to the waiting ones at its rank."""
        gang.key = key
        insort(self.waiting.setdefault(gang.size, []), key)

    def unwait(self, gang: Gang) -> None:
        """Removal of a gang from the waiting ones."""
        keys = self.waiting[gang.size]
        del keys[bisect_left(keys, gang.key)]
        if not keys:
            del self.waiting[gang.size]

    def take(self, gang: Gang) -> None:
        """Free workers for the gang: on servers with its data, then the nearest ones, then in the cluster's order."""
        count, upload_ms = gang.size, gang.upload_ms
        servers: Sequence[int] = list(self.free)
        if upload_ms is not None:
            servers = sorted(
                (server for server, own in self.free.items() if own),
                key=lambda s: (s not in gang.data, upload_ms[s], s),
            )
        gang.worker_slots = []
        for server in servers:
            own = self.free[server]
            number = min(count, len(own))
            gang.worker_slots += [(server, worker_slot) for worker_slot in own[:number]]
            del own[:number]
            count -= number
            if not count:
                break
        self.spare -= gang.size

    def release(self, gang: Gang) -> None:
        """Release of the workers of a gang."""
        for server, worker_slot in gang.worker_slots:
            insort(self.free[server], worker_slot)
        self.spare += gang.size
        gang.worker_slots = []
