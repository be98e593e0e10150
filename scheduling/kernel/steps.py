"""Steps of a simulation: one function for each priority of an agenda entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from scheduling.kernel.agenda import Priority
from scheduling.kernel.beliefs.endings import has_ended
from scheduling.kernel.changes.hand_over import begin_phase
from scheduling.kernel.decisions import ask, emit_all_prices
from scheduling.model.utility import duration_slots, utility_at

if TYPE_CHECKING:
    from scheduling.kernel.simulation import Simulation


def begin(sim: Simulation, at_ms: int, _: int) -> None:
    """Start of the run; the log states its rules."""
    cluster, scheduler = sim.cluster, sim.scheduler
    sim.emit(at_ms, "run_started", {
        "scheduler": scheduler.name, "parameters": asdict(scheduler.parameters), "seed": sim.seed,
        "jobs": len(sim.jobs), "servers": len(cluster.servers), "slot_ms": cluster.slot_ms,
        "horizon_slots": cluster.horizon_slots, "execution": scheduler.execution_on(cluster),
        **({} if sim.knowledge is None else {"beliefs": sim.knowledge.beliefs.name}),
    })  # fmt: skip
    emit_all_prices(sim, at_ms)


def complete(sim: Simulation, at_ms: int, job: int) -> None:
    """Completion of a job; in a run on beliefs its plan may end otherwise."""
    if sim.knowledge is not None and not has_ended(sim, at_ms, job):
        return
    sim.open.discard(job)
    sim.plans.forget(job)
    sim.request_slot(at_ms)
    row = sim.jobs[job]
    worth = utility_at(row.utility, duration_slots(at_ms, row.arrival_ms, sim.slot_ms))
    sim.emit(at_ms, "job_completed", {"job": job, "utility": worth})
    if sim.on_completion:
        ask(sim, sim.on_completion, at_ms, job)


def change_server(sim: Simulation, at_ms: int, server: int) -> None:
    """Start or end of a server's outage."""
    sim.expect_outage((at_ms, server))
    sim.request_slot(at_ms)
    sim.emit(at_ms, "server_changed", {"server": server, "away": sim.cluster.servers[server].is_away(at_ms)})
    if sim.on_cluster_change:
        ask(sim, sim.on_cluster_change, at_ms, server)


def arrive(sim: Simulation, at_ms: int, job: int) -> None:
    """Arrival of a job."""
    sim.arrived += 1
    sim.expect_arrival()
    sim.open.add(job)
    sim.request_slot(at_ms)
    if sim.knowledge is None:
        sim.emit(at_ms, "job_arrived", {"job": job})
    else:
        sim.emit(at_ms, "job_arrived", {"job": job, "believed_ms": sim.knowledge.submit(job)})
    sim.announce(job)
    if sim.on_arrival:
        ask(sim, sim.on_arrival, at_ms, job)


def ring(sim: Simulation, at_ms: int, _: int) -> None:
    """Alarm that the scheduler requested."""
    if sim.on_alarm:
        ask(sim, sim.on_alarm, at_ms, at_ms)


def begin_slot(sim: Simulation, at_ms: int, slot: int) -> None:
    """Start of a slot."""
    if sim.on_slot:
        ask(sim, sim.on_slot, at_ms, slot)


def change(sim: Simulation, at_ms: int, number: int) -> None:
    """Start of the next phase."""
    sim.phase += 1
    begin_phase(sim, sim.phases[number], number=sim.phase)


def end(sim: Simulation, at_ms: int, _: int) -> None:
    """End of the run: open jobs stay unfinished."""
    code, values = (
        ("stuck", {}) if sim.horizon_ms is None else ("horizon", {"horizon_slots": sim.cluster.horizon_slots})
    )
    for job in sorted(sim.open):
        sim.emit(at_ms, "decided", {"job": job, "kind": "unfinished", "code": code, "values": values})
    sim.emit(at_ms, "run_finished", {})
    sim.ended = True


_BY_PRIORITY: dict[Priority, Callable[[Simulation, int, int], None]] = {
    Priority.BEGIN: begin, Priority.COMPLETION: complete, Priority.OUTAGE: change_server, Priority.ARRIVAL: arrive,
    Priority.ALARM: ring, Priority.SLOT: begin_slot, Priority.PHASE: change, Priority.END: end,
}  # fmt: skip
STEPS = tuple(_BY_PRIORITY[priority] for priority in Priority)  # by the number of the priority
