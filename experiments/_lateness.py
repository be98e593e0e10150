"""Completion less target under each scheduler, as Fig. 4 and 8 of OASiS show it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, pvariance

from experiments import Figure, Options, Table
from experiments._grid import SEPARATE, Instance, play
from scheduling.model.utility import duration_slots
from scheduling.model.values import Event


def lateness(options: Options, instances: Sequence[Instance]) -> Table:
    """Mean and variance over all completed jobs, and their number: completing only the easy ones looks good."""
    rows = []
    for name, player in SEPARATE.items():
        options.report(name)
        late = [slots for instance in instances for slots in late_slots(instance, play(instance, player))]
        rows.append(
            (name, mean(late), pvariance(late), float(len(late))) if late else (name, float("inf"), float("inf"), 0.0)
        )
    own, *others = rows
    checks = (
        Figure("absolute mean / smallest of the others", abs(own[1]), "slots", min(abs(row[1]) for row in others)),
        Figure("variance / smallest of the others", own[2], "", min(row[2] for row in others)),
    )
    return Table(("scheduler", "mean slots", "variance", "completed"), tuple(rows), checks)


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
