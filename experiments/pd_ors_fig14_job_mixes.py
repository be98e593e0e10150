"""Gain of PD-ORS over OASiS for several mixes of time-critical and other jobs."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import Chart, Figure, Options, Steps
from experiments._grid import CALIBRATED, FROM_HISTORY, SHARED, compare, means, pd_ors_workload, table_of

TITLE = "gain over OASiS with 35 % and with 1 % critical jobs"
PAPER = "PD-ORS, Fig. 14–17"
CLAIM = "The gain over OASiS shrinks when the share of critical jobs falls by 34 points"
MIXES = ("10/55/35", "30/69/1")
SETTINGS = ((20, 50, 100), (80, 100, 30))  # slots, jobs, servers
SETTING = (
    f"{CALIBRATED}, {FROM_HISTORY}, sampled arrivals, 5 seeds; a mix gives the percentages of insensitive, sensitive "
    "and critical jobs. Reduced: two sizes, each with two of the mixes"
)
PLAYERS = {name: SHARED[name] for name in ("PD-ORS", "OASiS")}
SEEDS = 5
NEEDS = ("scipy", "highspy")
CHARTS = (Chart("total utility"),)


def run(options: Options, settings: Sequence[tuple[int, int, int]] = SETTINGS) -> Steps:
    points = {
        f"T {slots}, {jobs} jobs, {servers} servers, {mix}": pd_ors_workload(jobs, servers, slots, mix=mix)
        for slots, jobs, servers in settings for mix in MIXES
    }  # fmt: skip
    found = yield from compare(points, PLAYERS, options.seeds_or(SEEDS))
    gains = [row["PD-ORS"] / row["OASiS"] for row in means(found).values()]
    checks = [
        Figure(f"gain at 35 % / gain at 1 %, T {slots}", critical / relaxed, "x", 1.0, at_least=True)
        for (slots, *_), critical, relaxed in zip(settings, gains[::2], gains[1::2], strict=True)
    ]
    return table_of("setting", found, PLAYERS, checks)
