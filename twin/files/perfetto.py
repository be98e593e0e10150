"""A schedule in the trace event format that Perfetto (ui.perfetto.dev) and chrome://tracing open.

A site is a process, a server with each of its sub-rows a thread, a bar a complete event; times are microseconds. Jobs
that share a server lie on different threads, because events of one thread must nest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

import orjson

from scheduling.model.bars import CLOUD, Placement, Role
from scheduling.model.values import Cluster, Job

NOWHERE = "groups"  # the process of bars in a group of machines
MAX_SUB_ROWS = 1_000  # of one server: the thread's number is (server + 2) x MAX_SUB_ROWS + sub-row


def trace_lines(cluster: Cluster, jobs: Sequence[Job], bars: Iterable[Placement]) -> Iterator[bytes]:
    """The file, line by line. bars: in any order; none overlaps itself."""
    yield b'{"displayTimeUnit":"ms","traceEvents":[\n'
    rows = _Rows(cluster)
    for bar in sorted(bars, key=lambda bar: (bar.start_ms, bar.job, bar.role)):
        process, thread, fresh = rows.place(bar)
        yield from fresh
        job = jobs[bar.job]
        args = {"job": job.id, "model": job.model, "count": bar.count} | (
            {"chunk": bar.chunk} if bar.chunk >= 0 else {}
        )
        event = {
            "name": job.id, "cat": Role(bar.role).name.lower(), "ph": "X", "ts": bar.start_ms * 1000,
            "dur": (bar.end_ms - bar.start_ms) * 1000, "pid": process, "tid": thread, "args": args,
        }  # fmt: skip
        yield orjson.dumps(event) + b",\n"
    yield b'{"name":"end","ph":"M","pid":0,"tid":0,"args":{}}]}\n'


class _Rows:
    """Processes and threads as they are first used."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.processes: dict[str, int] = {}
        self.named: set[int] = set()
        self.busy: dict[int, list[tuple[int, int]]] = {}  # server -> heap of (end, sub-row)
        self.free: dict[int, list[int]] = {}  # server -> heap of sub-rows that are free again

    def place(self, bar: Placement) -> tuple[int, int, list[bytes]]:
        """(process, thread, lines that name those which are new)"""
        fresh: list[bytes] = []
        row = len(self.cluster.servers) + bar.group if bar.server < 0 and bar.server != CLOUD else bar.server
        if bar.server == CLOUD:
            row, site, name = -1, "cloud", "unlimited cloud"
        elif bar.server < 0:
            site, name = NOWHERE, f"group {bar.group}"
        else:
            site, name = self.cluster.servers[bar.server].site, self.cluster.servers[bar.server].name
        if site not in self.processes:
            self.processes[site] = len(self.processes) + 1
            fresh.append(_meta("process_name", self.processes[site], 0, site))
        sub_row = self._sub_row(row, bar)
        thread = (row + 2) * MAX_SUB_ROWS + sub_row
        if thread not in self.named:
            self.named.add(thread)
            fresh.append(_meta("thread_name", self.processes[site], thread, name))
        return self.processes[site], thread, fresh

    def _sub_row(self, row: int, bar: Placement) -> int:
        """The lowest sub-row of the row that is free when the bar starts."""
        busy, free = self.busy.setdefault(row, []), self.free.setdefault(row, [])
        while busy and busy[0][0] <= bar.start_ms:
            heappush(free, heappop(busy)[1])
        sub_row = heappop(free) if free else len(busy)
        heappush(busy, (bar.end_ms, sub_row))
        return sub_row


def _meta(kind: str, process: int, thread: int, name: str) -> bytes:
    return orjson.dumps({"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}) + b",\n"
