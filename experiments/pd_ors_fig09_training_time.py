"""How long jobs take."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median

from experiments import Figure, Options, Table
from experiments._grid import SHARED, Instance, pd_ors_workload, play, table_of, utility
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


def run(options: Options, servers: int = SERVERS) -> Table:
    measures = {
        "median slots": _median,
        "median of completed jobs": _of_completed,
        "completed": _completed,
        "utility": utility,
    }
    grid: dict[str, dict[str, float]] = {what: {} for what in measures}
    instances = [pd_ors_workload(JOBS, servers, SLOTS)(seed) for seed in options.seeds_or(3)]
    for name, player in SHARED.items():
        options.report(name)
        runs = [(instance, play(instance, player)) for instance in instances]
        for what, measure in measures.items():
            grid[what][name] = mean(measure(*one) for one in runs)
    own, *others = grid["median slots"].values()
    return table_of(
        "mean over seeds", grid, SHARED, [Figure("median slots: PD-ORS - best other", own - min(others), "", LESS)]
    )


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
