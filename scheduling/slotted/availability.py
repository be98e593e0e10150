"""Free amounts of the servers over future slots, and the earliest slot at which a gang fits for its whole run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.model.values import RESOURCES, ROLES, Cluster, Demand
from scheduling.slotted.gang_queue import Gang, Units
from scheduling.slotted.gangs.packing import PS, WORKER

Demands = tuple[Demand, Demand]  # of one worker, and of one parameter server
UNLIMITED = 1 << 40  # units that need nothing


class Availability:
    """Rows of free amounts: row i holds from slot times[i] until times[i + 1], the last one for ever."""

    def __init__(self, cluster: Cluster, limits: Sequence[str], slot: int) -> None:
        self.limited = [r for r, name in enumerate(RESOURCES) if name in limits]
        capacity = np.array([server.capacity for server in cluster.servers], dtype=np.int64).reshape(-1, len(RESOURCES))
        self.takes = np.array(
            [[role in server.roles for server in cluster.servers] for role in ROLES]
        )  # [role, server]
        self.times = np.array([slot], dtype=np.int64)
        self.free = capacity[None, :, self.limited].copy()  # [row, server, limited resource]

    def move_to(self, slot: int) -> None:
        """Availability from this slot on; earlier times are dropped."""
        first = int(np.searchsorted(self.times, slot, side="right")) - 1
        self.times, self.free = self.times[first:], self.free[first:]
        self.times[0] = max(self.times[0], slot)

    def remove(self, server: int) -> None:
        """Removal of a server that is unavailable."""
        self.free[:, server] = 0
        self.takes[:, server] = False

    def take(self, demands: Demands, units: Units, begin: int, end: int, sign: int = -1) -> None:
        """Reservation of the units in [begin, end); with sign 1, their release."""
        first, last = self._row(begin), self._row(end)
        for role, server, count in units:
            self.free[first:last, server] += sign * count * self._needs(demands[role])

    def earliest(self, gang: Gang, demands: Demands, slots: int, before: int | None = None) -> tuple[int, Units] | None:
        """(slot, units) of the earliest run of that many slots; None if the gang fits at no time before `before`."""
        need = self._needs(demands[WORKER])
        count = len(self.times) if before is None else int(np.searchsorted(self.times, before))
        past = np.searchsorted(self.times, self.times[:count] + slots)  # the first row after a run from each row
        if not count:
            return None
        short = _units(self.free[: past[-1]], need, self.takes[WORKER]).sum(axis=1) < gang.workers
        last_short = np.maximum.accumulate(np.where(short, np.arange(len(short)), -1))  # up to each row
        for first in np.flatnonzero(last_short[past - 1] < np.arange(count)).tolist():
            units = self._place(self.free[first : past[first]].min(axis=0), gang, demands)
            if units is not None:
                return int(self.times[first]), units
        return None

    def _place(self, free: np.ndarray, gang: Gang, demands: Demands) -> Units | None:
        """Units on the first servers with room, workers first; None if they do not fit."""
        units: Units = []
        for role, count in ((WORKER, gang.workers), (PS, gang.ps)):
            need = self._needs(demands[role])
            room = np.minimum(_units(free, need, self.takes[role]), count)
            before = np.cumsum(room) - room
            taken = np.clip(count - before, 0, room)
            if taken.sum() < count:
                return None
            found = np.flatnonzero(taken)
            units += [
                (role, server, number) for server, number in zip(found.tolist(), taken[found].tolist(), strict=True)
            ]
            free = free - taken[:, None] * need
        return units

    def _needs(self, demand: Demand) -> np.ndarray:
        return np.array([demand[r] for r in self.limited], dtype=np.int64)

    def _row(self, slot: int) -> int:
        """The row that begins at that slot, which is made."""
        row = int(np.searchsorted(self.times, slot))
        if row == len(self.times) or self.times[row] != slot:
            self.times = np.insert(self.times, row, slot)
            self.free = np.insert(self.free, row, self.free[row - 1], axis=0)
        return row


def _units(free: np.ndarray, need: np.ndarray, takes: np.ndarray) -> np.ndarray:
    """[..., server] units of a demand that fit into free amounts [..., server, resource]."""
    wanted = np.flatnonzero(need)
    if not len(wanted):
        return np.broadcast_to(np.where(takes, UNLIMITED, 0), free.shape[:-1])
    return np.where(takes, (free[..., wanted] // need[wanted]).min(axis=-1), 0)
