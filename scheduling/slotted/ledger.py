"""Ledger of slotted schedulers: allocation by slot and server; refuses overbooking and names the cell.

It belongs to the simulation and checks every plan, so no scheduler is trusted. Each server has a timeline: break points
and, between them, the free amounts of all resources as one exact integer (resource_vector.py). Neighbours never hold
the same amounts, and the past is dropped as time goes on, so a timeline is as short as the future is varied.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NoReturn

from scheduling.kernel.ledger import Ledger, Overbooked
from scheduling.kernel.resource_vector import GUARD, MAX_PACKED, fields, pack, unpack
from scheduling.model.bars import Placement, Role
from scheduling.model.values import RESOURCE_UNITS, RESOURCES, Cluster, Job

_PS, _TRANSFER = int(Role.PS), int(Role.TRANSFER)


class SlottedLedger(Ledger):
    """Free amounts of every server over time.

    limits: the resources that a server can run out of, in the execution model of the scheduler.
    Bars on the unlimited cloud, bars without a server and transfers hold nothing.
    """

    def __init__(self, cluster: Cluster, jobs: Sequence[Job], limits: Sequence[str] = RESOURCES) -> None:
        super().__init__(cluster, jobs)
        self._fields = fields([name in limits for name in RESOURCES])
        # free[s][i] holds from times[s][i] until times[s][i + 1]; the last one for ever
        self._times: list[list[int]] = [[0] for _ in cluster.servers]
        self._free: list[list[int]] = [[GUARD | self._pack(s.capacity)] for s in cluster.servers]
        for index, server in enumerate(cluster.servers):
            for begin, end in server.away:
                self._add(index, *self._segments(index, begin, end), begin, end, -self._pack(server.capacity))
        self._needs: dict[Sequence[int], tuple[int, int]] = {}  # demand of one unit -> packed, largest amount

    def free(self, server: int, at_ms: int) -> tuple[int, ...]:
        """Free thousandths of each resource on a server at a time from now on."""
        i = bisect_right(self._times[server], at_ms) - 1
        return unpack(self._free[server][max(i, 0)])

    def _take(self, now_ms: int, bar: Placement) -> None:
        if bar.server < 0 or bar.role == _TRANSFER:
            return
        times, free = self._times[bar.server], self._free[bar.server]
        _, _, _, start_ms, end_ms, count, _, _, _ = bar
        if len(times) > 1 and times[1] <= now_ms:  # the past is not read again
            passed = bisect_right(times, now_ms) - 1
            del times[:passed], free[:passed]
        if start_ms < now_ms:
            start_ms = now_ms
        unit, largest = self._need(bar)
        if count * largest > MAX_PACKED:
            self._refuse(bar, f"must need at most {MAX_PACKED:,} thousandths")
        need = unit * count
        first = bisect_right(times, start_ms) - 1
        last = bisect_left(times, end_ms)
        for i in range(first, last):
            if (free[i] - need) & GUARD != GUARD:
                self._overbooked(bar, i)
        self._add(bar.server, first, last, start_ms, end_ms, -need)

    def _give(self, now_ms: int, bar: Placement) -> None:
        if bar.server < 0 or bar.role == _TRANSFER:
            return
        start_ms = max(bar.start_ms, now_ms)
        first, last = self._segments(bar.server, start_ms, bar.end_ms)
        self._add(bar.server, first, last, start_ms, bar.end_ms, self._need(bar)[0] * bar.count)

    def _segments(self, server: int, start_ms: int, end_ms: int) -> tuple[int, int]:
        """The segments that [start, end) touches: from the first to the one before the last returned."""
        times = self._times[server]
        return bisect_right(times, start_ms) - 1, bisect_left(times, end_ms)

    def _add(self, server: int, first: int, last: int, start_ms: int, end_ms: int, amount: int) -> None:
        """Change of the free amounts by `amount` in [start, end), which the segments first .. last - 1 cover."""
        times, free = self._times[server], self._free[server]
        if last == len(times) or times[last] != end_ms:
            times.insert(last, end_ms)
            free.insert(last, free[last - 1])
        if times[first] != start_ms:
            first += 1
            last += 1
            times.insert(first, start_ms)
            free.insert(first, free[first - 1])
        for i in range(first, last):
            free[i] += amount
        if free[last] == free[last - 1]:
            del times[last], free[last]
        if first and free[first] == free[first - 1]:
            del times[first], free[first]

    def _need(self, bar: Placement) -> tuple[int, int]:
        job = self._jobs[bar.job]
        demand = job.ps if bar.role == _PS else job.worker
        if demand is None:
            self._refuse(bar, "must be of a role for which the job has a demand")
        found = self._needs.get(demand)
        if found is None:
            found = self._needs[demand] = (self._pack(demand), max(1, *demand))
        return found

    def _pack(self, amounts: Sequence[int]) -> int:
        return pack(amounts) & self._fields

    def _absence(self, server: int, at_ms: int) -> str:
        return "; the server is unavailable" if self._cluster.servers[server].is_away(at_ms) else ""

    def _overbooked(self, bar: Placement, segment: int) -> NoReturn:
        times = self._times[bar.server]
        start_ms = max(bar.start_ms, times[segment])
        end_ms = min([bar.end_ms, *times[segment + 1 : segment + 2]])
        needs = unpack(self._need(bar)[0])
        for r, (need, free) in enumerate(zip(needs, unpack(self._free[bar.server][segment]), strict=True)):
            if need * bar.count > free:
                raise Overbooked(
                    f"job {self._jobs[bar.job].id}: {Role(bar.role).name.lower()} x {bar.count} needs "
                    f"{need * bar.count / 1000:g} {RESOURCE_UNITS[r]} of {RESOURCES[r]} on server {self._name(bar)} in "
                    f"[{start_ms}, {end_ms}) ms, {free / 1000:g} {RESOURCE_UNITS[r]} "
                    f"free{self._absence(bar.server, start_ms)}"
                )
        raise AssertionError("a segment was refused although every resource fits")
