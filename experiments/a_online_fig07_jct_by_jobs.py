"""Completion times of A_online and four others by number of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import means, table_of
from experiments._typed_workers import JOBS, NOTE, PLAYERS, SEEDS, never_rises, rates, workload

TITLE = "total completion time relative to SRTF, by number of jobs"
PAPER = "A_online, Fig. 7"
CLAIM = (
    "A_online and A_online-E are best in their categories; their advantage over SRTF and Tiresias-L grows with "
    "the number of jobs, as does that of A_online over A_online-E"
)
SETTING = f"100 servers; {NOTE}"
CHARTS = (Chart("total completion time", "of SRTF"),)


def run(options: Options, jobs: Sequence[int] = JOBS, servers: int = 100) -> Steps:
    found = yield from rates({count: workload(count, servers) for count in jobs}, options.seeds_or(SEEDS))
    grid = means(found)
    checks = []
    for point, row in grid.items():
        checks += [
            Figure(f"A_online / BatchSche, {point} jobs", row["A_online"] / row["BatchSche"], "x", 1.0),
            Figure(f"A_online / A_online-E, {point} jobs", row["A_online"] / row["A_online-E"], "x", 1.0),
            Figure(f"A_online-E, {point} jobs", row["A_online-E"], "of SRTF", 1.0),
            Figure(f"Tiresias-L, {point} jobs", row["Tiresias-L"], "of SRTF", 1.0, at_least=True),
        ]
    checks += [never_rises(name, [row[name] for row in grid.values()], 0.03) for name in ("A_online", "A_online-E")]
    return table_of("jobs", found, PLAYERS, checks)
