"""Hand-over within a run: another cluster, jobs or scheduler take effect (phases.py decides what is kept)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from scheduling.kernel.agenda import Priority
from scheduling.kernel.changes.phases import Carried, Phase, carry, continues
from scheduling.kernel.decisions import ask, commit, emit_all_prices
from scheduling.model.bars import Placement
from scheduling.model.decision import Decision
from scheduling.model.values import Cluster

if TYPE_CHECKING:
    from scheduling.kernel.simulation import Simulation


def begin_phase(sim: Simulation, phase: Phase, number: int | None = None) -> None:
    """Start of a phase. number: counted from 1, of phases that edits begin; it is logged."""
    if continues(sim.cluster, sim.scheduler, phase):
        _go_on(sim, phase, number)
    else:
        _hand_over(sim, phase, number)
    emit_all_prices(sim, phase.at_ms)


def _go_on(sim: Simulation, phase: Phase, number: int | None) -> None:
    """Start of a phase in which only future jobs differ: the scheduler keeps its state."""
    before, stood = sim.scheduler, sim.plans.ledger.bars(phase.at_ms)
    sim.enter(phase.cluster, phase.jobs, phase.scheduler)
    sim.scheduler.restore(before.state())
    sim.scheduler.rng.bit_generator.state = before.rng.bit_generator.state
    sim.plans.ledger = sim.scheduler.model.ledger(sim.cluster, sim.jobs, sim.scheduler)
    sim.plans.ledger.rebuild(phase.at_ms, stood)
    _emit_phase(sim, phase, number, Carried({}, [], [], []))


def _hand_over(sim: Simulation, phase: Phase, number: int | None) -> None:
    """Start of a phase with kept plans where they fit; all other open jobs are resubmitted."""
    at_ms, before, old, stood = phase.at_ms, sim.scheduler, sim.cluster, sim.plans.ledger.bars(phase.at_ms)
    ledger = phase.scheduler.model.ledger(phase.cluster, phase.jobs, phase.scheduler)
    carried = carry(at_ms, sim.open, sim.plans.finishes(), stood, before, phase, ledger)
    _emit_phase(sim, phase, number, carried)
    _release_plans(sim, at_ms, before.release_plans(at_ms), carried.displaced, stood)
    sim.plans.ledger = ledger
    sim.agenda.clear(Priority.SLOT)
    sim.agenda.clear(Priority.ALARM)
    sim.shares += carried.shares
    sim.plans.keep_starts(at_ms, carried.kept)
    sim.enter(phase.cluster, phase.jobs, phase.scheduler)
    _emit_server_changes(sim, at_ms, old)
    sim.scheduler.adopt_plans(at_ms, before, carried.kept)
    if sim.on_arrival:
        for job in carried.offered:
            ask(sim, sim.on_arrival, at_ms, job)
    commit(sim, at_ms, sim.scheduler.taken_over(at_ms))
    sim.request_slot(at_ms)


def _release_plans(
    sim: Simulation, at_ms: int, decision: Decision, displaced: Sequence[int], stood: Sequence[Placement]
) -> None:
    """Log of the plans that end now: a job that runs is preempted, another one displaced.

    stood: the bars of plans of jobs.
    """
    if decision.workers is not None:
        sim.plans.record_starts(decision.workers.jobs.tolist())
    planned = {bar.job for bar in stood}
    begun = {bar.job for bar in stood if bar.start_ms < at_ms}
    for job in displaced:
        sim.agenda.cancel(Priority.COMPLETION, job)
        runs = sim.plans.begun_ms.get(job, at_ms) < at_ms and (job in begun or job not in planned)
        kind = "preempted" if runs else "displaced"
        sim.emit(at_ms, "decided", {"job": job, "kind": kind, "code": "place_taken", "values": {"phase": sim.phase}})
        if job in planned:
            sim.plans.end(at_ms, job)
    commit(sim, at_ms, decision)


def _emit_server_changes(sim: Simulation, at_ms: int, old: Cluster) -> None:
    """Log of the servers that leave or return by the change; a new server returns."""
    for index, server in enumerate(sim.cluster.servers):
        if server.is_away(at_ms) != (index >= len(old.servers) or old.servers[index].is_away(at_ms)):
            sim.emit(at_ms, "server_changed", {"server": index, "away": server.is_away(at_ms)})


def _emit_phase(sim: Simulation, phase: Phase, number: int | None, carried: Carried) -> None:
    if number is None:
        return
    sim.emit(phase.at_ms, "edited", {
        "phase": number, "said": list(phase.sentences), "scheduler": phase.scheduler.name,
        "parameters": asdict(phase.scheduler.parameters), "execution": phase.scheduler.execution_on(phase.cluster),
        "kept": len(carried.kept), "displaced": carried.displaced, "offered": len(carried.offered),
        "shares": [list(pair) for pair in carried.shares],
    })  # fmt: skip
