"""Completion times on the testbed by number of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import means, table_of
from experiments._typed_workers import PLAYERS, SEEDS, TESTBED_JOBS, TESTBED_NOTE, rates, testbed

TITLE = "total completion time relative to SRTF on the testbed, by number of jobs"
PAPER = "A_online, Fig. 4"
CLAIM = "A_online outperforms SRTF, Tiresias-L and BatchSche; with few jobs the improvement is not noticeable"
SETTING = TESTBED_NOTE
CHARTS = (Chart("total completion time", "of SRTF"),)
RIVALS = ("SRTF", "Tiresias-L", "BatchSche")


def run(options: Options, jobs: Sequence[int] = TESTBED_JOBS) -> Steps:
    found = yield from rates({count: testbed(count) for count in jobs}, options.seeds_or(SEEDS))
    checks = [
        Figure(f"A_online / {rival}, {point} jobs", row["A_online"] / row[rival], "x", 1.0)
        for point, row in means(found).items() for rival in RIVALS
    ]  # fmt: skip
    return table_of("jobs", found, PLAYERS, checks)
