"""End of a plan in a run on beliefs: the job's work is done, maybe early, or its belief is used up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduling.kernel.decisions import ask_for, commit, emit_prices_of

if TYPE_CHECKING:
    from scheduling.kernel.simulation import Simulation


def has_ended(sim: Simulation, at_ms: int, job: int) -> bool:
    """True if the job completes now; the rest of its plan is cut. If not, its scheduler decides again."""
    knowledge = sim.knowledge
    assert knowledge is not None
    if not knowledge.has_ended(at_ms, job):
        _renew(sim, at_ms, job)
        return False
    if knowledge.cut_short(at_ms, job):
        dropped = sim.plans.cut(at_ms, job)
        sim.scheduler.on_early_end(at_ms, job, dropped)
        emit_prices_of(sim, at_ms, dropped)
    knowledge.complete(job)
    return True


def _renew(sim: Simulation, at_ms: int, job: int) -> None:
    """End of the job's plan with some of its work left: another belief, and a decision for what it says is left."""
    assert sim.knowledge is not None
    rest, values = sim.knowledge.renew(at_ms, job)
    sim.request_slot(at_ms)
    sim.emit(at_ms, "decided", {"job": job, "kind": "overran", "code": "belief_used_up", "values": values})
    decision = ask_for(sim, lambda: sim.scheduler.on_overrun(at_ms, job, rest))
    if job not in decision.plan:
        sim.plans.end(at_ms, job)
    commit(sim, at_ms, decision)
