"""What would have flipped a decision: recomputed on demand from the log, on the state as it was."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from scheduling.counterfactuals import ADMITTED, counterfactuals, sentence
from scheduling.model import ModelError
from scheduling.registry import build
from twin import eventlog, scenarios
from twin.models import Run
from twin.state import BORN, DIED, NEVER, at


def of_job(run: Run, index: int) -> dict[str, Any] | None:
    """{seq, admitted, rows: [{what, actual, value, admitted, sentence}]}; None when the job has not been decided.

    ModelError when its scheduler does not decide by prices.
    """
    cluster, jobs = scenarios.of_run(run)
    scheduler = build(run.scenario.scheduler, run.scenario.parameters)
    if not scheduler.quotes:
        raise ModelError(f"{scheduler.title} does not decide by payoff, so nothing can be said about what would have flipped it")
    decided = _decided(run, index)
    if decided is None:
        return None
    seq, code = decided
    if code not in (ADMITTED, "payoff_not_positive", "no_capacity", "too_late"):
        return {"seq": seq, "admitted": False, "rows": []}  # no number of its own would have made it possible
    before = at(run.pk, up_to=seq - 1)
    bars = before.bars.rows
    scheduler.start(cluster, jobs, np.random.default_rng(run.scenario.seed))
    scheduler.assume(bars[bars[:, DIED] == NEVER][:, :BORN])
    admitted = code == ADMITTED
    rows = [
        asdict(row) | {"sentence": sentence(row, admitted, cluster.slot_ms)} for row in counterfactuals(scheduler, jobs[index])
    ]
    return {"seq": seq, "admitted": admitted, "rows": rows}


def _decided(run: Run, index: int) -> tuple[int, str] | None:
    """(seq, code) of the first decision about the job."""
    for lines, _ in eventlog.lines_and_bars(run.pk):
        for seq, _, kind, data in lines:
            if kind == "decided" and data["job"] == index:
                return seq, data["code"]
    return None
