"""Training time of jobs under PD-ORS and five others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import mean, median

from experiments import Chart, Figure, Options, Steps
from experiments._grid import (
    CALIBRATED,
    FROM_HISTORY,
    SHARED,
    Instance,
    Maker,
    Player,
    pd_ors_workload,
    play,
    table_of,
    utility,
)
from scheduling.model.utility import duration_slots
from scheduling.model.values import Event

TITLE = "median training time"
PAPER = "PD-ORS, Fig. 9"
CLAIM = "Jobs have the lowest median training time under PD-ORS"
JOBS, SERVERS, SLOTS = 100, 30, 80
SETTING = (
    f"{SLOTS} slots, {SERVERS} servers, {JOBS} jobs, {CALIBRATED}, {FROM_HISTORY}, 3 seeds; jobs that do not finish "
    f"count as {SLOTS} slots, as in the paper. Variant: a third of the samples (K × 0.1 instead of 0.3), so that more "
    "than half of the jobs finish"
)
LESS = -1e-9  # a tie is not lowest
SEEDS = 3
FEWER = "K × 0.1"
NEEDS = ("scipy", "highspy")
CHARTS = (
    Chart("median training time", "slots", rows=("median slots", "median of completed jobs"), turned=True),
    Chart(
        f"median training time, {FEWER}", "slots", rows=(f"median slots, {FEWER}",), turned=True,
    ),
)  # fmt: skip


def run(options: Options, servers: int = SERVERS) -> Steps:
    seeds = options.seeds_or(SEEDS)
    make = pd_ors_workload(JOBS, servers, SLOTS)
    makers = {"": make, f", {FEWER}": fewer_samples(make)}
    values = yield {
        f"{name}{suffix}": partial(_measured, maker, player, seeds)
        for suffix, maker in makers.items() for name, player in SHARED.items()
    }  # fmt: skip
    found = {
        f"{what}{suffix}": {name: values[f"{name}{suffix}"][what] for name in SHARED}
        for suffix in makers for what in MEASURES
    }  # fmt: skip
    checks = []
    for suffix in makers:
        own, *others = (mean(by_seed) for by_seed in found[f"median slots{suffix}"].values())
        checks.append(Figure(f"median slots{suffix}: PD-ORS − best other", own - min(others), "", LESS))
    return table_of("mean over seeds", found, SHARED, checks)


def fewer_samples(make: Maker) -> Maker:
    """The same jobs with a third of the samples."""

    def made(seed: int) -> Instance:
        cluster, jobs = make(seed)
        return cluster, [replace(job, num_samples=max(1, round((job.num_samples or 0) / 3))) for job in jobs]

    return made


def _measured(make: Maker, player: Player, seeds: Sequence[int]) -> dict[str, list[float]]:
    """{measure: value of each seed}"""
    found: dict[str, list[float]] = {what: [] for what in MEASURES}
    for instance in map(make, seeds):
        events = play(instance, player)
        for what, measure in MEASURES.items():
            found[what].append(measure(instance, events))
    return found


def _taken(instance: Instance, events: Sequence[Event]) -> list[int]:
    cluster, jobs = instance
    done = {event.data["job"]: event.at_ms for event in events if event.kind == "job_completed"}
    return [duration_slots(at_ms, jobs[job].arrival_ms, cluster.slot_ms) + 1 for job, at_ms in done.items()]


def _median(instance: Instance, events: Sequence[Event]) -> float:
    taken = _taken(instance, events)
    return float(median([*taken, *[SLOTS] * (len(instance[1]) - len(taken))]))


def _of_completed(instance: Instance, events: Sequence[Event]) -> float:
    return float(median(_taken(instance, events) or [SLOTS]))


def _completed(instance: Instance, events: Sequence[Event]) -> float:
    return float(len(_taken(instance, events)))


MEASURES = {
    "median slots": _median, "median of completed jobs": _of_completed, "completed": _completed, "utility": utility,
}  # fmt: skip
