"""Decisions of the scheduler in a simulation: a hook is called, and its decision is checked, logged and carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from scheduling.kernel.agenda import Priority
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision
from scheduling.model.values import ModelError

if TYPE_CHECKING:
    from scheduling.kernel.simulation import Simulation


def ask(sim: Simulation, hook: Callable[[int, int], Decision], at_ms: int, argument: int) -> None:
    """Call of a hook of the scheduler, and commit of its decision."""
    began = perf_counter()
    decision = hook(at_ms, argument)
    sim.decision_seconds.append(perf_counter() - began)
    if decision is not NOTHING:
        commit(sim, at_ms, decision)


def ask_for(sim: Simulation, question: Callable[[], Decision]) -> Decision:
    """Answer of the scheduler, which the caller commits."""
    began = perf_counter()
    decision = question()
    sim.decision_seconds.append(perf_counter() - began)
    return decision


def commit(sim: Simulation, at_ms: int, decision: Decision) -> None:
    """Check of the decision, its events in the log, and its bars as the new plan."""
    plan = decision.plan
    dropped = sim.plans.ledger.replace(at_ms, plan) if plan else []
    for job, kind, reason in decision.verdicts:
        if kind == "rejected":
            sim.open.discard(job)
            if sim.knowledge is not None:
                sim.knowledge.forget(job)
        sim.emit(at_ms, "decided", {"job": job, "kind": kind, "code": reason.code, "values": reason.values})
    sim.plans.commit(at_ms, decision)
    for kind, data in decision.events:
        sim.emit(at_ms, kind, data)
    if decision.wake_ms is not None and sim.on_slot:
        _check_later(sim, at_ms, "a wake-up must be after the current time", decision.wake_ms > at_ms, decision.wake_ms)
        sim.request_slot(decision.wake_ms)
    if decision.alarm_ms is not None:
        _check_later(
            sim, at_ms, "an alarm must not be before the current time", decision.alarm_ms >= at_ms, decision.alarm_ms
        )
        sim.schedule(decision.alarm_ms, Priority.ALARM)
    if decision.repriced:
        emit_all_prices(sim, at_ms)
    elif sim.prices:
        emit_prices_of(sim, at_ms, [*dropped, *(bar for bars in plan.values() for bar in bars)])


def emit_all_prices(sim: Simulation, at_ms: int) -> None:
    """Log of the prices of all slots up to the scheduler's horizon, if it has any."""
    if sim.prices and sim.scheduler.horizon:
        _emit_prices(sim, at_ms, range(sim.scheduler.horizon))


def emit_prices_of(sim: Simulation, at_ms: int, bars: Sequence[Placement]) -> None:
    """Log of the prices of the slots that these bars touch, and of those that are new, if the scheduler has any."""
    if sim.prices:
        touched = sim.scheduler.model.touched_slots(bars, at_ms, sim.slot_ms)
        new = range(sim.priced_slots, sim.scheduler.horizon or 0)
        _emit_prices(sim, at_ms, sorted({*touched, *new}) if new else touched)


def _emit_prices(sim: Simulation, at_ms: int, slots: Sequence[int]) -> None:
    data = sim.scheduler.model.price_event(sim.scheduler, slots) if slots else None
    if data is not None:
        sim.priced_slots = sim.scheduler.horizon or 0
        sim.emit(at_ms, "priced", data)


def _check_later(sim: Simulation, at_ms: int, rule: str, holds: bool, asked_ms: int) -> None:
    if not holds:
        raise ModelError(f"scheduler {sim.scheduler.name}: {rule} ({at_ms} ms), got {asked_ms} ms")
