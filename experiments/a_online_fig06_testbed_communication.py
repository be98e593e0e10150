"""Time that jobs communicate on the testbed."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import means, table_of
from experiments._typed_workers import PLAYERS, SEEDS, TESTBED_JOBS, TESTBED_NOTE, communication, rates, testbed

TITLE = "communication time relative to SRTF on the testbed, by number of jobs"
PAPER = "A_online, Fig. 6"
CLAIM = "The communication time of A_online is smaller than that of SRTF, Tiresias-L and BatchSche"
SETTING = (
    "the sum over chunks of uploads and exchanges with remote parameter servers, and of the moves of gangs; "
    f"{TESTBED_NOTE}"
)
CHARTS = (Chart("communication time", "of SRTF"),)
RIVALS = ("SRTF", "Tiresias-L", "BatchSche")


def run(options: Options, jobs: Sequence[int] = TESTBED_JOBS) -> Steps:
    points = {count: testbed(count) for count in jobs}
    found = yield from rates(points, options.seeds_or(SEEDS), communication)
    checks = [
        Figure(f"A_online / {rival}, {point} jobs", row["A_online"] / row[rival], "x", 1.0)
        for point, row in means(found).items() for rival in RIVALS
    ]  # fmt: skip
    return table_of("jobs", found, PLAYERS, checks)
