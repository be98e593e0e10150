"""How often chunks and gangs are stopped as servers grow."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Options, Table
from experiments._grid import compare, table_of
from experiments._lanes import NOTE, PREEMPTIVE, SERVERS, stops, workload
from experiments.a_online_fig09_suspensions_by_jobs import orders

TITLE = "preemptions, by number of servers"
PAPER = "A_online, Fig. 10"
CLAIM = "A_online-E preempts more than A_online, and A_online more than SRTF"
SETTING = f"300 jobs; a preemption is the suspension of a chunk or, with gangs, of a job; {NOTE}"


def run(options: Options, servers: Sequence[int] = SERVERS, jobs: int = 300) -> Table:
    grid = compare(options, {count: workload(jobs, count) for count in servers}, PREEMPTIVE, options.seeds_or(3), stops)
    return table_of("servers", grid, PREEMPTIVE, list(orders(grid)))
