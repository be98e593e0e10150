"""Saved state of a simulation: all that a continuation needs, as numpy arrays, numbers and text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduling.model.bars import Placement

if TYPE_CHECKING:
    from scheduling.kernel.simulation import Simulation


def save(sim: Simulation) -> dict[str, Any]:
    """The state between two steps."""
    known = {} if sim.knowledge is None else {"knowledge": sim.knowledge.state()}
    sim.peek()  # an outage that cannot matter any more is not part of it
    return {
        "seq": sim.seq, "now_ms": sim.now_ms, "ended": sim.ended, "open_ended": sim.open_ended,
        "arrived": sim.arrived, "phase": sim.phase,
        "shares": list(sim.shares), "begun_ms": sorted(sim.plans.begun_ms.items()),
        "open": np.array(sorted(sim.open), dtype=np.int64),
        "agenda": np.array(sim.agenda.entries(), dtype=np.int64).reshape(-1, 3),
        "bars": np.array(sim.plans.ledger.bars(sim.now_ms), dtype=np.int64).reshape(-1, len(Placement._fields)),
        "rng": json.dumps(sim.scheduler.rng.bit_generator.state),  # text: it holds integers of 128 bits
        "scheduler": sim.scheduler.state(), **known,
    }  # fmt: skip


def restore(sim: Simulation, state: Mapping[str, Any]) -> None:
    """The inverse of `save`, in a simulation just made."""
    sim.seq, sim.now_ms = state["seq"], state["now_ms"]
    sim.ended, sim.open_ended = state["ended"], state["open_ended"]
    sim.arrived, sim.phase = state["arrived"], state["phase"]
    sim.shares = [(int(job), share) for job, share in state["shares"]]
    sim.plans.begun_ms = {int(job): int(ms) for job, ms in state["begun_ms"]}
    if sim.phase:
        phase = sim.phases[sim.phase - 1]
        sim.enter(phase.cluster, phase.jobs, phase.scheduler)
    elif sim.shares:
        sim.enter(sim.cluster, sim.records, sim.scheduler)
    sim.open = set(state["open"].tolist())
    sim.agenda.restore(state["agenda"].tolist())
    sim.expect_phase()  # of this simulation: a fork continues a state of its parent, which has other edits to come
    ledger = sim.plans.ledger = sim.scheduler.model.ledger(sim.cluster, sim.jobs, sim.scheduler)
    ledger.rebuild(sim.now_ms, map(Placement._make, state["bars"].tolist()))
    if sim.knowledge is not None:
        sim.knowledge.restore(state["knowledge"])
    for job in range(sim.arrived):
        sim.announce(job)
    sim.scheduler.rng.bit_generator.state = json.loads(state["rng"])
    sim.scheduler.restore(state["scheduler"])
    sim.priced_slots = sim.scheduler.horizon or 0
