"""Additions to a run: jobs and servers that are added or changed while it continues, logged with all their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scheduling.kernel.changes.hand_over import begin_phase
from scheduling.kernel.changes.phases import Phase, check_phases
from scheduling.model.values import Cluster, Event, Job, ModelError

if TYPE_CHECKING:
    from scheduling.kernel.simulation import Simulation

EventData = Sequence[tuple[str, Mapping[str, Any]]]  # (kind, data) of events


def extend(sim: Simulation, added: EventData, cluster: Cluster, jobs: Sequence[Job]) -> list[Event]:
    """Additions to the log, the cluster and the jobs; the scheduler continues as after an edit."""
    if sim.knowledge is not None:
        raise ModelError("jobs and servers cannot be added to a run on predicted run times")
    if sim.phase < len(sim.phases) or sim.ended or not sim.seq:
        raise ModelError(
            "jobs and servers can be added only to a run that has started, has not ended and has no later edits"
        )
    scheduler = type(sim.scheduler)(sim.scheduler.parameters)
    phase = Phase(sim.now_ms, cluster, jobs, scheduler, sentences=())
    check_phases([phase], sim.cluster, sim.records, after_ms=sim.now_ms - 1)
    out = sim.out = []
    for kind, data in added:
        sim.emit(sim.now_ms, kind, data)
    begin_phase(sim, phase)
    return out
