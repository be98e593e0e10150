"""Remaining work of the jobs that edits have resubmitted, from the log of a run."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.kernel.changes.phases import with_shares
from scheduling.model.values import Job
from twin.eventlog import event_log


def of_phases(run_id: int, phases: Sequence[Sequence[Job]], up_to_ms: int | None = None) -> list[Sequence[Job]]:
    """The records that the scheduler of each phase is started with.

    phases: the jobs of each phase as the scenario states them, from the first one on. The jobs of phases that the log
    does not contain, or that begin after `up_to_ms`, are returned as stated; so are all jobs of a log whose events
    `edited` have no `shares`.
    """
    if len(phases) < 2:
        return list(phases)
    found: list[tuple[int, float]] = []
    records = list(phases)
    for _, _, _, data in event_log.lines_of(run_id, ("edited",), up_to_ms=up_to_ms):
        found += [(job, share) for job, share in data.get("shares", ())]
        if found:
            records[data["phase"]] = with_shares(phases[data["phase"]], found)
    return records
