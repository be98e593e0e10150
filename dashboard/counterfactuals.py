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

SECONDS = 0.15  # of a whole answer, unless more are given
MOST_SECONDS = 30.0
PRICED = (
    ADMITTED,
    "payoff_not_positive",
    "no_capacity",
    "too_late",
)  # others no number of the job's own would have made possible
MOST_KEPT = 4
_started: OrderedDict[int, BaseScheduler] = OrderedDict()  # by run, as they begin; the one asked last is last
_lock = threading.Lock()


def of_job(run: Run, index: int, seconds: float = SECONDS) -> dict[str, Any] | None:
    """{seq, admitted, seconds, rows: [{what, actual, value, admitted, searched, sentence}]}; None when the job has not been decided.

    What takes longer than `seconds` is not searched. ModelError when its scheduler does not decide by prices.
    """
    until = time.perf_counter() + seconds
    started = _scheduler(run)
    if not started.quotes:
        raise ModelError(f"{started.title} does not decide by payoff, so nothing can be said about what would have flipped it")
    decided = _decided(run, index)
    if decided is None:
        return None
    seq, at_ms, said, bars = decided
    later = scenarios.worlds(run.scenario, run.edits)[1:]
    if later and at_ms >= later[0].at_ms:
        raise ModelError(
            "this job was decided after an edit had changed the run; what would have flipped it is known only for those before"
        )
    admitted = said.code == ADMITTED
    found = []
    if said.code in PRICED:
        scheduler = started.clone()
        scheduler.assume(bars)
        found = counterfactuals(scheduler, scheduler.jobs[index], said, until)
    slot_ms = started.cluster.slot_ms
    rows = [asdict(row) | {"sentence": sentence(row, admitted, slot_ms)} for row in found]
    return {"seq": seq, "admitted": admitted, "seconds": seconds, "rows": rows}


def _scheduler(run: Run) -> BaseScheduler:
    """The run's scheduler as it begins."""
    world = scenarios.worlds(run.scenario, run.edits)[0].world
    with _lock:
        kept = _started.pop(run.pk, None)
    if kept is None or kept.jobs is not world.jobs or kept.cluster is not world.cluster:
        kept = build(world.scheduler, world.parameters)
        if kept.quotes:
            kept.start(world.cluster, world.jobs, np.random.default_rng(run.scenario.seed))
    if kept.quotes:
        with _lock:
            _started[run.pk] = kept
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
