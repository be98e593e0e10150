"""Shortest remaining time first, the preemptive baseline of A_online (Section V; Schrage and Miller 1966).

Follows the description (typed_workers/gang_scheduler.py): jobs are ordered by what is left of their work,
divided by their workers; equal ones by arrival. Edge only: the paper compares it in that category.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.decision import Reason
from scheduling.typed_workers.gang_pool import Gang, Key
from scheduling.typed_workers.gang_scheduler import TypedGangScheduler


@dataclass(frozen=True, slots=True)
class SrtfParameters(Parameters):
    overhead_ms: int = parameter(
        0, "Time in which a suspended gang loads its data before it resumes", low=0, high=86_400_000, unit="ms",
        title="Reload time of a gang",
    )  # fmt: skip


class Srtf(TypedGangScheduler):
    """SRTF: the order changes only while jobs run; running jobs move ahead, all at one pace."""

    name = "srtf"
    title = "SRTF"
    paper = (
        "Schrage and Miller: The Queue M/G/1 with the Shortest Remaining Processing "
        "Time Discipline; baseline of A_online"
    )
    summary = "Runs the gangs with the least remaining time on typed edge workers; shorter jobs preempt longer ones."
    Parameters = SrtfParameters

    def waiting_key(self, gang: Gang) -> Key:
        return gang.left_ms, gang.job

    def running_key(self, gang: Gang) -> Key:
        return gang.finish_ms, gang.job

    def ahead_ms(self, now_ms: int) -> int:
        return now_ms

    def compared(self, now_ms: int, gang: Gang) -> Key:
        return gang.left_ms - gang.ran_ms(now_ms), gang.job

    def started(self, now_ms: int, gang: Gang, again: bool, load_ms: int) -> Reason:
        servers = len({server for server, _ in gang.worker_slots})
        values = {"workers": gang.size, "servers": servers, "load_ms": load_ms, "again": again, "left_ms": gang.left_ms}
        return Reason("shortest_first", values)
