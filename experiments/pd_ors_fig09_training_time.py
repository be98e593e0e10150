"""How long jobs take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import mean, median

from experiments import Chart, Figure, Options, Steps
from experiments._grid import SHARED, Instance, Maker, Player, pd_ors_workload, play, table_of, utility
from scheduling.model.utility import duration_slots
from scheduling.model.values import Event

TITLE = "median training time"
PAPER = "PD-ORS, Fig. 9"
CLAIM = "Jobs have the lowest median training time under PD-ORS."
JOBS, SERVERS, SLOTS = 100, 30, 80
SETTING = (
    f"T = {SLOTS}, {SERVERS} servers, {JOBS} jobs, calibrated, from history, 3 seeds; jobs that do not "
    "finish count as T (as in the paper)"
)
LESS = -1e-9  # a tie is not lowest
SEEDS = 3
CHARTS = (Chart("median training time", "slots", rows=("median slots", "median of completed jobs"), turned=True),)


def run(options: Options, servers: int = SERVERS) -> Steps:
    make, seeds = pd_ors_workload(JOBS, servers, SLOTS), options.seeds_or(SEEDS)
    values = yield {name: partial(_measured, make, player, seeds) for name, player in SHARED.items()}
    found = {what: {name: values[name][what] for name in SHARED} for what in MEASURES}
    own, *others = (mean(by_seed) for by_seed in found["median slots"].values())
    return table_of(
        "mean over seeds", found, SHARED, [Figure("median slots: PD-ORS - best other", own - min(others), "", LESS)]
    )


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
