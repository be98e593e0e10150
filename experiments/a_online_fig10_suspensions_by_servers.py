"""Suspensions of chunks and gangs by number of servers."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Options, Steps
from experiments._grid import compare, means, table_of
from experiments._typed_workers import NOTE, PREEMPTIVE, SEEDS, SERVERS, orders, stops, workload

TITLE = "preemptions, by number of servers"
PAPER = "A_online, Fig. 10"
CLAIM = "A_online-E preempts more than A_online, and A_online more than SRTF"
SETTING = f"300 jobs; a preemption is the suspension of a chunk or, with gangs, of a job; {NOTE}"
CHARTS = (Chart("preemptions"),)


def run(options: Options, servers: Sequence[int] = SERVERS, jobs: int = 300) -> Steps:
    points = {count: workload(jobs, count) for count in servers}
    found = yield from compare(points, PREEMPTIVE, options.seeds_or(SEEDS), stops)
    return table_of("servers", found, PREEMPTIVE, list(orders(means(found))))
