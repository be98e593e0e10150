"""Servers of each slot, and their free amounts filled unit by unit, round robin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduling.kernel.resource_vector import GUARD, pack
from scheduling.model.bars import NONE, Role
from scheduling.model.values import RESOURCES, ROLES, Cluster
from scheduling.slotted.gangs.rates import JobRates, Shape

WORKER, PS = int(Role.WORKER), int(Role.PS)

Units = tuple[tuple[int, int, int], ...]  # (role, server, count) in this order


class Servers:
    """Available servers in each slot, with their capacity when empty."""

    def __init__(self, cluster: Cluster, training: JobRates) -> None:
        slot_ms = cluster.slot_ms
        self.capacity = [GUARD | pack(server.capacity) for server in cluster.servers]
        self.amounts = [server.capacity for server in cluster.servers]
        self.roles = [[role in server.roles for server in cluster.servers] for role in ROLES]
        self.closed = [[(a // slot_ms, -(-b // slot_ms)) for a, b in server.away] for server in cluster.servers]
        self.changes = sorted({slot for closed in self.closed for interval in closed for slot in interval})
        self.limited = [r for r, name in enumerate(RESOURCES) if name in training.limits]
        self.slot = -1
        self.move_to(0)

    def move_to(self, slot: int) -> None:
        """State of the packing in `slot`."""
        stays, self.slot = self.slot >= 0 and not self.changes, slot
        if stays:
            return
        self.next_change = next((change for change in self.changes if change > slot), None)
        self.open = [not any(first <= slot < past for first, past in closed) for closed in self.closed]
        self.hosts = [[i for i, able in enumerate(roles) if able and self.open[i]] for roles in self.roles]
        rows = [amounts for amounts, here in zip(self.amounts, self.open, strict=True) if here]
        self.total = [sum(column) for column in zip(*rows, strict=True)] or [0] * len(RESOURCES)

    def closes(self, server: int) -> int | None:
        """The next slot in which the server cannot be used."""
        return next((first for first, _ in self.closed[server] if first > self.slot), None)

    def pairs(self, shape: Shape) -> bool:
        """True if a worker and a parameter server fit together on empty, available servers."""
        found: list[list[int]] = []
        for roles, need in zip(self.roles, (shape.worker, shape.ps), strict=True):
            found.append([i for i, able in enumerate(roles) if able and fits(self.capacity[i], need)])
        if any(len(servers) > 1 for servers in found) or found[0] != found[1]:
            return bool(found[0] and found[1])
        return any(fits(self.capacity[i], shape.worker + shape.ps) for i in found[0])


class Packing:
    """Free amounts of the servers in use, filled unit by unit, round robin."""

    def __init__(self, servers: Servers, pointers: Sequence[int] = (0, 0), everywhere: bool = False) -> None:
        """pointers: per role, the server at which the search begins. everywhere: also on unavailable servers."""
        self.free = list(servers.capacity)
        self.hosts = (
            [[i for i, able in enumerate(roles) if able] for roles in servers.roles] if everywhere else servers.hosts
        )
        self.positions = [
            next((p for p, server in enumerate(hosts) if server >= pointer), 0)
            for hosts, pointer in zip(self.hosts, pointers, strict=True)
        ]
        self.full: tuple[set[int], set[int]] = (set(), set())  # per role, demands for which no server has room

    @property
    def pointers(self) -> list[int]:
        return [hosts[p] if hosts else 0 for hosts, p in zip(self.hosts, self.positions, strict=True)]

    def unit(self, role: int, need: int) -> int:
        """Server of one more unit, which is reserved there; NONE if no server has capacity."""
        full = self.full[role]
        if need in full:
            return NONE
        free, hosts = self.free, self.hosts[role]
        position = self.positions[role]
        for _ in range(len(hosts)):
            server = hosts[position]
            position = position + 1 if position + 1 < len(hosts) else 0
            rest = free[server] - need
            if rest & GUARD == GUARD:
                free[server] = rest
                self.positions[role] = position
                return server
        full.add(need)
        return NONE

    def grow(self, shape: Shape, held: dict[tuple[int, int], int], workers: int) -> bool:
        """Addition of one worker to `workers`, with the parameter servers that it needs; all of it or nothing."""
        before = self.positions[:]
        taken: list[tuple[int, int, int]] = []
        for role, need, count in (
            (WORKER, shape.worker, 1), (PS, shape.ps, shape.ps_of(workers + 1) - shape.ps_of(workers)),
        ):  # fmt: skip
            for _ in range(count):
                server = self.unit(role, need)
                if server == NONE:
                    for _, place, amounts in taken:
                        self.give(place, amounts)
                    self.positions = before
                    return False
                taken.append((role, server, need))
        for role, server, _ in taken:
            held[role, server] = held.get((role, server), 0) + 1
        return True

    def gang(self, shape: Shape, workers: int) -> Units | None:
        """`workers` with their parameter servers; None, with nothing taken, when they do not fit."""
        held = self.place(shape, workers)
        return None if held is None else as_units(held)

    def place(self, shape: Shape, workers: int) -> dict[tuple[int, int], int] | None:
        """Units as {(role, server): count} in the order in which servers were found."""
        before = self.positions[:]
        held: dict[tuple[int, int], int] = {}
        for role, need, count in ((WORKER, shape.worker, workers), (PS, shape.ps, shape.ps_of(workers))):
            for _ in range(count):
                server = self.unit(role, need)
                if server == NONE:
                    for (kind, place), units in held.items():
                        self.give(place, units * (shape.worker if kind == WORKER else shape.ps))
                    self.positions = before
                    return None
                held[role, server] = held.get((role, server), 0) + 1
        return held

    def take(self, shape: Shape, units: Iterable[tuple[int, int, int]]) -> None:
        """Reservation of units that a job already holds."""
        for role, server, count in units:
            self.free[server] -= count * (shape.worker if role == WORKER else shape.ps)

    def put_back(self, shape: Shape, units: Iterable[tuple[int, int, int]]) -> None:
        """The inverse of `take`."""
        for role, server, count in units:
            self.give(server, count * (shape.worker if role == WORKER else shape.ps))

    def give(self, server: int, amounts: int) -> None:
        self.free[server] += amounts
        for full in self.full:
            full.clear()


def as_units(held: Mapping[tuple[int, int], int]) -> Units:
    return tuple(sorted((role, server, count) for (role, server), count in held.items()))


def workers_of(units: Iterable[tuple[int, int, int]]) -> int:
    return sum(count for role, _, count in units if role == WORKER)


def fits(free: int, need: int) -> bool:
    """True if a packed demand fits into packed free amounts."""
    return (free - need) & GUARD == GUARD
