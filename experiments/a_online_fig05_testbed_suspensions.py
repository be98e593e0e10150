"""Suspensions of chunks and gangs on the testbed."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import compare, means, table_of
from experiments._typed_workers import PREEMPTIVE, SEEDS, TESTBED_JOBS, TESTBED_NOTE, stops, testbed

TITLE = "preemptions on the testbed, by number of jobs"
PAPER = "A_online, Fig. 5"
CLAIM = "Preemptions become more frequent with more jobs under all schedulers; those of A_online remain relatively few"
SETTING = f"a preemption is the suspension of a chunk or, with gangs, of a job; {TESTBED_NOTE}"
CHARTS = (Chart("preemptions"),)
PLAYERS = {name: PREEMPTIVE[name] for name in ("A_online", "Tiresias-L", "SRTF")}


def run(options: Options, jobs: Sequence[int] = TESTBED_JOBS) -> Steps:
    found = yield from compare({count: testbed(count) for count in jobs}, PLAYERS, options.seeds_or(SEEDS), stops)
    grid = means(found)
    first, *_, last = grid.values()
    checks = [
        *(
            Figure(f"{name}, most jobs − fewest jobs", last[name] - first[name], "", 0.0, at_least=True)
            for name in last
        ),
        Figure("A_online − larger of the others, most jobs", last["A_online"] - max(last["SRTF"], last["Tiresias-L"]),
               "", 0.0),
    ]  # fmt: skip
    return table_of("jobs", found, PLAYERS, checks)
