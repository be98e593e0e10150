"""Choice of servers as Slurm's select plugin makes it: the tightest run of neighbours, and in it the tightest server.

Servers that have room are taken in runs of neighbours, in the order of the cluster. The run with the least CPU room
that holds all workers is chosen; where none does, the run with the most. If one server of the run holds all that is
left, the one with the least CPU room is taken, otherwise the servers of the run in their order. The CPU room of a
server is the number of workers that its free CPUs would do for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduling.kernel.resource_vector import FIELD, GUARD, MASK
from scheduling.model.values import CPU
from scheduling.slotted.gang_queue import Gang, Units
from scheduling.slotted.gangs.packing import PS, WORKER

CPU_SHIFT = FIELD * CPU


class Host(NamedTuple):
    """A server with room. holds: workers that fit; cpu_room: those that its free CPUs would do for."""

    server: int
    holds: int
    cpu_room: int


class BestFit:
    """Choice of servers for gangs. Sets of servers are ints with one bit for each."""

    def __init__(self, hosts: Sequence[Sequence[int]], spread: bool) -> None:
        """hosts: by role, the servers that take it; spread: each worker gets a server of its own."""
        self.spread = spread
        self.workers_on, self.ps_on = bits(hosts[WORKER]), bits(hosts[PS])

    def choose(self, gang: Gang, free: Sequence[int], allowed: int) -> Units | None:
        """Units on the allowed servers that fit into what is free; None if they do not fit. Nothing is taken."""
        runs, total = self._runs(gang, free, allowed & self.workers_on)
        if total < gang.workers:
            return None
        units: Units = []
        left = gang.workers
        while left:
            run = _tightest(runs, left)
            enough = [host for host in run if host.holds >= left]
            for host in [min(enough, key=lambda host: (host.cpu_room, host.server))] if enough else run:
                count = min(left, host.holds)
                units.append((WORKER, host.server, count))
                left -= count
                if not left:
                    break
            runs.remove(run)
        return self._with_ps(gang, free, allowed, units)

    def _runs(self, gang: Gang, free: Sequence[int], allowed: int) -> tuple[list[list[Host]], int]:
        """(runs of neighbours with room for a worker, number of workers that they hold together)."""
        runs: list[list[Host]] = []
        worker, most = gang.shape.worker, 1 if self.spread else gang.workers
        cpus = max(1, worker >> CPU_SHIFT & MASK)
        before, total = -2, 0
        for server in members(allowed):
            amounts, holds = free[server], 0
            while holds < most and (amounts - worker) & GUARD == GUARD:
                amounts -= worker
                holds += 1
            if not holds:
                continue
            if server != before + 1:
                runs.append([])
            runs[-1].append(Host(server, holds, (free[server] >> CPU_SHIFT & MASK) // cpus))
            before = server
            total += holds
        return runs, total

    def _with_ps(self, gang: Gang, free: Sequence[int], allowed: int, units: Units) -> Units | None:
        """The units with the parameter servers: on servers of the gang while they have room, then on others."""
        left, need = gang.ps, gang.shape.ps
        if not left:
            return units
        rest = {server: free[server] - count * gang.shape.worker for _, server, count in units}
        own = [server for server in rest if self.ps_on >> server & 1]
        for server in [*own, *(server for server in members(allowed & self.ps_on) if server not in rest)]:
            count, amounts = 0, rest.get(server, free[server])
            while count < left and (amounts - need) & GUARD == GUARD:
                amounts -= need
                count += 1
            if count:
                units.append((PS, server, count))
                left -= count
            if not left:
                return units
        return None


def bits(servers: Sequence[int]) -> int:
    """Servers as a set."""
    found = 0
    for server in servers:
        found |= 1 << server
    return found


def members(servers: int) -> list[int]:
    """The servers of a set, in their order."""
    found = []
    while servers:
        lowest = servers & -servers
        found.append(lowest.bit_length() - 1)
        servers ^= lowest
    return found


def _tightest(runs: Sequence[list[Host]], left: int) -> list[Host]:
    """The run with the least CPU room of those that hold `left` workers, else the one with the most."""
    rooms = [(sum(host.holds for host in run) >= left, sum(host.cpu_room for host in run)) for run in runs]
    if any(enough for enough, _ in rooms):
        return runs[min((room, number) for number, (enough, room) in enumerate(rooms) if enough)[1]]
    return runs[min((-room, number) for number, (_, room) in enumerate(rooms))[1]]
