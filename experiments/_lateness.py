"""Completion less target under each scheduler, as Fig. 4 and 8 of OASiS show it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import mean, pvariance

from experiments import Chart, Figure, Steps, Table
from experiments._grid import SEPARATE, Instance, Maker, Player, play
from scheduling.model.utility import duration_slots
from scheduling.model.values import Event

LATENESS = (
    Chart("completion − target, mean", "slots", ("mean slots",)),
    Chart("variance of completion − target", "slots²", ("variance",)),
    Chart("completed jobs", "", ("completed",)),
)


def lateness(make: Maker, seeds: Sequence[int]) -> Steps:
    """Table of lateness: mean and variance over all completed jobs, and their number, as few easy ones look good."""
    values = yield {name: partial(_late, make, seeds, player) for name, player in SEPARATE.items()}
    rows, spread = [], []
    for name, by_seed in values.items():
        late = [slots for own in by_seed for slots in own]
        rows.append(
            (name, mean(late), pvariance(late), float(len(late))) if late else (name, float("inf"), float("inf"), 0.0)
        )
        each = [mean(own) for own in by_seed if own]
        spread.append((None, (min(each), max(each)) if each else None, None, None))
    (_, own_mean, own_variance, _), *others = rows
    checks = (
        Figure(
            "absolute mean / smallest of the others", abs(own_mean), "slots", min(abs(each) for _, each, _, _ in others)
        ),
        Figure("variance / smallest of the others", own_variance, "", min(each for _, _, each, _ in others)),
    )
    return Table(("scheduler", "mean slots", "variance", "completed"), tuple(rows), checks, tuple(spread))


def late_slots(instance: Instance, events: Sequence[Event]) -> list[float]:
    """Slots from arrival to completion less the target, of every job that completed."""
    cluster, jobs = instance
    found = []
    for event in events:
        if event.kind == "job_completed":
            job = jobs[event.data["job"]]
            assert job.utility is not None
            found.append(duration_slots(event.at_ms, job.arrival_ms, cluster.slot_ms) - job.utility.target_slots)
    return found


def _late(make: Maker, seeds: Sequence[int], player: Player) -> list[list[float]]:
    return [late_slots(instance, play(instance, player)) for instance in map(make, seeds)]
