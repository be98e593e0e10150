"""Counterfactuals of a decision, computed on demand from the state rebuilt from the log."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from scheduling.kernel.quotes import ADMITTED
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import END
from scheduling.model.decision import Reason
from scheduling.model.values import ModelError
from scheduling.slotted.counterfactuals import counterfactuals, sentence
from twin.eventlog import event_log, remaining_work
from twin.eventlog.fold import BORN, DIED, NEVER
from twin.eventlog.state_cache import Newest
from twin.eventlog.stored_states import at
from twin.infra.kept import KEPT
from twin.models import Run
from twin.scenarios import beliefs, store
from twin.scenarios.phase_rules import scheduler_of

SECONDS = 0.13  # of a whole answer, unless more are given
MAX_SECONDS = 30.0
# for other reasons no field of the job would have changed the decision
PRICED = (ADMITTED, "payoff_not_positive", "no_capacity", "too_late")


def of_job(run: Run, index: int, seconds: float = SECONDS) -> dict[str, Any] | None:
    """{seq, admitted, seconds, rows: [{what, actual, value, admitted, searched, same_bounds, sentence}]}.

    None for an undecided job. The search ends after `seconds`. ModelError if the scheduler does not decide by prices,
    or decided about the job at an edit.
    """
    until = time.perf_counter() + seconds
    decided = _decided(run, index)
    edits = _edits_before(run, decided)
    started = _scheduler(run, len(edits), index + 1)
    if not started.quotes:
        raise ModelError(f"{started.title} does not decide by payoff, so counterfactuals are not available")
    if decided is None:
        return None
    seq, at_ms, reason, bars = decided
    if edits and edits[-1] == at_ms:
        raise ModelError(
            "the decision was made at an edit, together with those about the other resubmitted jobs; counterfactuals "
            "are available only for decisions on arrival"
        )
    if edits:  # a bar that the edit has ended does not hold the rest of its slot
        bars = bars[bars[:, END] > edits[-1]]
    admitted = reason.code == ADMITTED
    found = []
    if reason.code in PRICED:
        scheduler = started.clone()
        scheduler.assume(bars, index + 1)
        found = counterfactuals(scheduler, index, reason, until)
    slot_ms = started.cluster.slot_ms
    rows = [asdict(row) | {"sentence": sentence(row, admitted, slot_ms)} for row in found]
    return {"seq": seq, "admitted": admitted, "seconds": seconds, "rows": rows}


def _edits_before(run: Run, decided: tuple[int, int, Reason, np.ndarray] | None) -> list[int]:
    """Times of the edits that took effect before the decision.

    Decisions about jobs that arrive at the time of an edit precede it.
    """
    if decided is None or len(store.stages_of(run.scenario, run.edits)) < 2:
        return []
    seq, at_ms, _, _ = decided
    edited = event_log.lines_of(run.pk, ("edited",), up_to_ms=at_ms)
    return [edited_ms for edited_seq, edited_ms, _, _ in edited if edited_seq < seq]


def _scheduler(run: Run, phase: int, arrived: int) -> BaseScheduler:
    """Scheduler of the run in a phase, counted from 0, with nothing planned, when `arrived` jobs have arrived."""
    stages = store.stages_of(run.scenario, run.edits)
    state = stages[phase].state

    def started() -> BaseScheduler:
        scheduler = scheduler_of(state)
        if scheduler.quotes:
            jobs = remaining_work.of_phases(run.pk, [stage.state.jobs for stage in stages[: phase + 1]])[phase]
            beliefs.start(scheduler, state.cluster, jobs, run.scenario, arrived)
        return scheduler

    return KEPT.get(("started", run.pk, phase, arrived), started)


def _decided(run: Run, index: int) -> tuple[int, int, Reason, np.ndarray] | None:
    """(seq, at_ms, reason, bars planned before) of the first decision about the job."""
    with Newest(run) as state:
        if not 0 <= index < state.firsts.length:
            return None
        seq, known = state.firsts.rows[index].tolist()
        bars = state.bars.rows[: max(0, known)].copy()
    if seq == NEVER:
        return None
    if (bars[:, DIED] != NEVER).any():  # some were replaced, before or later
        bars = at(run.pk, up_to=seq - 1).bars.rows
    line = event_log.line_at(run.pk, seq, ("decided",))
    assert line is not None, f"run {run.pk}: event {seq} is not a decision"
    _, at_ms, _, data = line
    return seq, at_ms, Reason(data["code"], data["values"]), bars[bars[:, DIED] == NEVER][:, :BORN]
