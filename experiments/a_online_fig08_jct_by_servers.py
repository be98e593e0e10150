"""Completion times of A_online and four others by number of servers."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import means, table_of
from experiments._typed_workers import NOTE, PLAYERS, SEEDS, SERVERS, rates, workload

TITLE = "total completion time relative to SRTF, by number of servers"
PAPER = "A_online, Fig. 8"
CLAIM = "With more servers, the ratios of A_online and BatchSche rise, and those of A_online-E and Tiresias-L fall"
SETTING = f"300 jobs; {NOTE}"
CHARTS = (Chart("total completion time", "of SRTF"),)


def run(options: Options, servers: Sequence[int] = SERVERS, jobs: int = 300) -> Steps:
    found = yield from rates({count: workload(jobs, count) for count in servers}, options.seeds_or(SEEDS))
    grid = means(found)
    first, last = grid[servers[0]], grid[servers[-1]]
    checks = [
        *(
            Figure(f"{name}, most servers − fewest servers", last[name] - first[name], "", 0.0, at_least=True)
            for name in ("A_online", "BatchSche")
        ),
        *(
            Figure(f"{name}, most servers − fewest servers", last[name] - first[name], "", 0.0)
            for name in ("A_online-E", "Tiresias-L")
        ),
    ]
    return table_of("servers", found, PLAYERS, checks)
