"""Free room on servers in which gangs grow one worker at a time, on one server as long as that is faster."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from scheduling.kernel.resource_vector import GUARD, fits
from scheduling.slotted.gangs.packing import PS, WORKER, Packing, Servers, Units, as_units, workers_of
from scheduling.slotted.gangs.rates import Shape

Held = dict[tuple[int, int], int]  # {(role, server): count}

Mark = tuple[list[int], list[int], Held, int]


class Places:
    """Gangs by job, and the room that they leave. local: gangs on one server are faster."""

    def __init__(self, packing: Packing, servers: Servers, local: bool) -> None:
        self.capacity = servers.capacity
        self.alone: dict[tuple[Shape, int], int] = {}  # cached, also for copies
        self.packing, self.local = packing, local
        self.both = [server for server in packing.hosts[WORKER] if server in set(packing.hosts[PS])] if local else []
        self.held: dict[int, Held] = {}
        self.workers: dict[int, int] = {}

    def copy(self) -> Places:
        """Copy with room and gangs of its own."""
        packing = copy(self.packing)
        packing.free, packing.positions = list(packing.free), list(packing.positions)
        packing.full = (set(packing.full[WORKER]), set(packing.full[PS]))
        other = Places.__new__(Places)
        other.packing, other.local, other.both = packing, self.local, self.both
        other.capacity, other.alone = self.capacity, self.alone
        other.held = {job: dict(held) for job, held in self.held.items()}
        other.workers = dict(self.workers)
        return other

    def on_one(self, job: int) -> bool:
        """True if the gang is on one server."""
        if not self.local:
            return False
        (_, first), *others = self.held[job]
        return all(server == first for _, server in others)

    def units(self) -> dict[int, Units]:
        return {job: as_units(held) for job, held in self.held.items()}

    def grow(self, job: int, shape: Shape, most: int) -> bool:
        """One more worker, with its parameter servers; on one server where the whole gang fits on one."""
        held, workers = self.held.get(job, {}), self.workers.get(job, 0)
        if shape.worker in self.packing.full[WORKER]:
            return False
        if self.local and (server := self._home(held, shape, workers, most)) is not None:
            self._give_back(held, shape)
            ps = shape.ps_of(workers + 1)
            self.packing.free[server] -= (workers + 1) * shape.worker + ps * shape.ps
            held = {(WORKER, server): workers + 1, (PS, server): ps}
        elif not self.packing.grow(shape, held, workers):
            return False
        self.held[job], self.workers[job] = held, workers + 1
        return True

    def put(self, job: int, shape: Shape, units: Units) -> bool:
        """A gang in these places; false, with no meaning of the room, if it does not fit."""
        self.packing.take(shape, units)
        self.held[job] = {(role, server): count for role, server, count in units}
        self.workers[job] = workers_of(units)
        return all(self.packing.free[server] & GUARD == GUARD for _, server, _ in units)

    def mark(self, job: int) -> Mark:
        """State before an attempt to grow a gang."""
        return list(self.packing.free), list(self.packing.positions), dict(self.held[job]), self.workers[job]

    def undo(self, job: int, mark: Mark) -> None:
        """Restoration of the state before the attempt."""
        self.packing.free, self.packing.positions, self.held[job], self.workers[job] = mark
        for full in self.packing.full:
            full.clear()

    def shrink(self, job: int, shape: Shape, workers: int) -> None:
        """Fewer workers, at least 1: the servers with the fewest units of the gang lose theirs first."""
        held = self.held[job]
        for role, need, keep in ((WORKER, shape.worker, workers), (PS, shape.ps, shape.ps_of(workers))):
            own = sorted((count, -server) for (kind, server), count in held.items() if kind == role)
            surplus = sum(count for count, _ in own) - keep
            for count, negative in own:
                lost = min(count, surplus)
                surplus -= lost
                if lost == count:
                    del held[role, -negative]
                elif lost:
                    held[role, -negative] -= lost
                if lost:
                    self.packing.give(-negative, lost * need)
        self.workers[job] = workers

    def leave(self, job: int, shape: Shape) -> None:
        """End of a gang."""
        self._give_back(self.held.pop(job), shape)
        del self.workers[job]

    def _give_back(self, held: Mapping[tuple[int, int], int], shape: Shape) -> None:
        for (role, server), count in held.items():
            self.packing.give(server, count * (shape.worker if role == WORKER else shape.ps))

    def _home(self, held: Held, shape: Shape, workers: int, most: int) -> int | None:
        """Server that holds the whole gang with one more worker: where it is, or else where it could grow most."""
        free, home = self.packing.free, next((server for _, server in held), None)
        if home is not None and all(server == home for _, server in held):
            more = shape.worker + (shape.ps_of(workers + 1) - shape.ps_of(workers)) * shape.ps
            if fits(free[home], more):
                return home
        if workers >= self._alone(shape, most):
            return None
        best, room, need = None, workers, self._need(shape, workers + 1)
        for server in self.both:
            if (free[server] - need) & GUARD == GUARD:
                best, room = server, self._held_by(free[server], shape, room + 1, most)
                if room == most:
                    break
                need = self._need(shape, room + 1)
        return best

    def _alone(self, shape: Shape, most: int) -> int:
        """Workers of a gang that the largest empty server holds."""
        found = self.alone.get((shape, most))
        if found is None:
            sizes = {self.capacity[server] for server in self.both}
            found = max((self._held_by(size, shape, 0, most) for size in sizes), default=0)
            self.alone[shape, most] = found
        return found

    def _held_by(self, free: int, shape: Shape, low: int, high: int) -> int:
        """The most workers, from low, that fit into what is free on a server; low do."""
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(free, self._need(shape, middle)) else (low, middle - 1)
        return low

    def _need(self, shape: Shape, workers: int) -> int:
        """Packed demand of a whole gang."""
        return workers * shape.worker + shape.ps_of(workers) * shape.ps
