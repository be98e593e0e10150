"""What would have flipped a decision: recomputed on demand from the log, on the state as it was."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import asdict
from typing import Any

import numpy as np

from dashboard.states import Newest
from scheduling.counterfactuals import counterfactuals, sentence
from scheduling.model import ModelError, Reason
from scheduling.questions import ADMITTED
from scheduling.registry import BaseScheduler, build
from twin import eventlog, scenarios
from twin.models import Run
from twin.state import BORN, DIED, NEVER, at

SECONDS = 0.13  # of a whole answer, unless more are given
MOST_SECONDS = 30.0
PRICED = (
    ADMITTED,
    "payoff_not_positive",
    "no_capacity",
    "too_late",
)  # others no number of the job's own would have made possible
MOST_KEPT = 4
_started: OrderedDict[tuple[int, int], BaseScheduler] = (
    OrderedDict()
)  # by run and phase, as they begin; the one asked last is last
_lock = threading.Lock()


def of_job(run: Run, index: int, seconds: float = SECONDS) -> dict[str, Any] | None:
    """{seq, admitted, seconds, rows: [{what, actual, value, admitted, searched, sentence}]}; None when the job has not been decided.

    What takes longer than `seconds` is not searched. ModelError when its scheduler does not decide by prices.
    """
    until = time.perf_counter() + seconds
    decided = _decided(run, index)
    started = _scheduler(run, decided[1] if decided else 0)
    if not started.quotes:
        raise ModelError(f"{started.title} does not decide by payoff, so nothing can be said about what would have flipped it")
    if decided is None:
        return None
    seq, _, said, bars = decided
    admitted = said.code == ADMITTED
    found = []
    if said.code in PRICED:
        scheduler = started.clone()
        scheduler.assume(bars)
        found = counterfactuals(scheduler, scheduler.jobs[index], said, until)
    slot_ms = started.cluster.slot_ms
    rows = [asdict(row) | {"sentence": sentence(row, admitted, slot_ms)} for row in found]
    return {"seq": seq, "admitted": admitted, "seconds": seconds, "rows": rows}


def _scheduler(run: Run, at_ms: int) -> BaseScheduler:
    """The run's scheduler at that moment, as its world begins; what arrives at an edit's own instant is decided before it."""
    stages = scenarios.worlds(run.scenario, run.edits)
    phase = max(i for i, stage in enumerate(stages) if i == 0 or stage.at_ms < at_ms)
    world, key = stages[phase].world, (run.pk, phase)
    with _lock:
        kept = _started.pop(key, None)
    if kept is None or kept.jobs is not world.jobs or kept.cluster is not world.cluster:
        kept = build(world.scheduler, world.parameters)
        if kept.quotes:
            kept.start(world.cluster, world.jobs, np.random.default_rng(run.scenario.seed))
    if kept.quotes:
        with _lock:
            _started[key] = kept
            while len(_started) > MOST_KEPT:
                _started.popitem(last=False)
    return kept


def _decided(run: Run, index: int) -> tuple[int, int, Reason, np.ndarray] | None:
    """(seq, at_ms, reason, the bars that stood planned before) of the first decision about the job."""
    with Newest(run) as state:
        if not 0 <= index < state.firsts.length:
            return None
        seq, known = state.firsts.rows[index].tolist()
        bars = state.bars.rows[: max(0, known)].copy()
    if seq == NEVER:
        return None
    if (bars[:, DIED] != NEVER).any():  # some were replaced, before or later
        bars = at(run.pk, up_to=seq - 1).bars.rows
    lines, _ = next(eventlog.lines_and_bars(run.pk, seq - 1, seq))
    at_ms, data = next((at_ms, data) for number, at_ms, _, data in lines if number == seq)
    return seq, at_ms, Reason(data["code"], data["values"]), bars[bars[:, DIED] == NEVER][:, :BORN]
