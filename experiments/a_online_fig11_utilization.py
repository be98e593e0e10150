"""Utilization of the workers, and makespan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean
from typing import NamedTuple

from experiments import Chart, Figure, Options, Steps, Table
from experiments._typed_workers import NOTE, PREEMPTIVE, SEEDS, makespan_and_use, short_chunks, workload

TITLE = "utilization and makespan"
PAPER = "A_online, Fig. 11"
CLAIM = (
    "A_online and A_online-E use all workers at the peaks of submission; the makespan of A_online is 0.76 of that "
    "of SRTF and 0.74 of that of Tiresias-L"
)
SPANS, SHORT_SEEDS = (400, 600), 2
SETTING = (
    f"300 jobs, 100 servers; {NOTE}. Variant: a tenth of the mini-batches (a chunk takes 6 h on average), within "
    f"{SPANS[0]} or {SPANS[1]} hours, at most {SHORT_SEEDS} seeds"
)
CHARTS = (
    Chart("makespan", "h", ("makespan, h",)),
    Chart("share of workers that are busy", "", ("busy, mean", "busy, peak")),
)


class Use(NamedTuple):
    """Means over the seeds: makespan in h, and the shares of workers that are busy on average and at the peak."""

    makespan: float
    busy: float
    peak: float


def run(options: Options, jobs: int = 300, servers: int = 100, spans: Sequence[int] = SPANS) -> Steps:
    seeds = options.seeds_or(SEEDS)
    settings = {"": (workload(jobs, servers), seeds)}
    settings |= {f", {span} h": (short_chunks(jobs, servers, span), seeds[:SHORT_SEEDS]) for span in spans}
    values = yield {
        f"{name}{suffix}": partial(makespan_and_use, make, player, chosen)
        for suffix, (make, chosen) in settings.items() for name, player in PREEMPTIVE.items()
    }  # fmt: skip
    found = {title: Use(*map(mean, zip(*by_seed, strict=True))) for title, by_seed in values.items()}
    rows, spread, checks = [], [], []
    for suffix in settings:
        own = found[f"A_online{suffix}"].makespan
        for name in PREEMPTIVE:
            title = f"{name}{suffix}"
            makespan, busy, peak = found[title]
            rows.append((title, makespan, own / makespan, busy, peak))
            of_makespan, of_busy, of_peak = ((min(column), max(column)) for column in zip(*values[title], strict=True))
            spread.append((None, of_makespan, None, of_busy, of_peak))
        checks += [
            _workers(f"A_online-E{suffix}", found, 0.999),
            _workers(f"A_online{suffix}", found, 0.9),
            Figure(f"makespan, A_online / SRTF{suffix} (paper: 0.76)", own / found[f"SRTF{suffix}"].makespan, "x", 1.0),
            Figure(
                f"makespan, A_online / Tiresias-L{suffix} (paper: 0.74)", own / found[f"Tiresias-L{suffix}"].makespan,
                "x", 1.0,
            ),
        ]  # fmt: skip
    columns = ("scheduler", "makespan, h", "A_online / this scheduler", "busy, mean", "busy, peak")
    return Table(columns, tuple(rows), tuple(checks), tuple(spread))


def _workers(title: str, found: Mapping[str, Use], least: float) -> Figure:
    what = f"maximum number of concurrent workers, {title}"
    return Figure(what, found[title].peak, "share", least, at_least=True)
