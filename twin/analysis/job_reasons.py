"""Newest decisions about jobs at a time, and their reasons as sentences."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scheduling.reporting.reasons import readable
from twin.eventlog import event_log
from twin.eventlog.fold import AT, JOB_OF, SEQ, RunState
from twin.models import Run

MAX_KEPT = 20_000  # sentences of a web process; an event never changes
LAST_CODES = ("ended", "withdrawn")  # of scheduling/observed/reasons.py: the decision states how the job ended


class Decision(NamedTuple):
    """Decision about a job; outcome: how a job of a real cluster ended, empty for other decisions."""

    kind: str
    code: str
    sentence: str
    outcome: str


def newest_decisions(state: RunState, jobs: Collection[int], at_ms: int) -> dict[int, int]:
    """Event of the newest decision up to the time, by job."""
    rows = state.decided.rows
    rows = rows[: int(np.searchsorted(rows[:, AT], at_ms, side="right"))]
    rows = rows[np.isin(rows[:, JOB_OF], list(jobs))]
    return dict(zip(rows[:, JOB_OF].tolist(), rows[:, SEQ].tolist(), strict=True))  # the last one of a job stays


def sentences(run: Run, decisions: dict[int, int]) -> dict[int, str]:
    """Sentence of the decision of each job."""
    return {job: one.sentence for job, one in _made(run, decisions).items()}


def verdicts(run: Run, decisions: dict[int, int]) -> dict[int, tuple[str, str]]:
    """(kind, code) of the decision of each job."""
    return {job: (one.kind, one.code) for job, one in _made(run, decisions).items()}


def outcomes(run: Run, decisions: dict[int, int]) -> dict[int, str]:
    """Outcome of each job of a real cluster that has ended, as connectors/facts.py names it."""
    return {job: one.outcome for job, one in _made(run, decisions).items() if one.outcome}


def _made(run: Run, decisions: dict[int, int]) -> dict[int, Decision]:
    made = run.created_at.isoformat()
    return {job: _decision(run.pk, made, seq) for job, seq in decisions.items()}


@lru_cache(MAX_KEPT)
def _decision(run_id: int, made: str, seq: int) -> Decision:
    """Decision of one event; made: start of the run, as its number is used again after a deletion."""
    found = event_log.line_at(run_id, seq, ("decided",))
    if found is None:
        return Decision("", "", "", "")
    _, _, _, data = found
    code, values = data["code"], data["values"]
    return Decision(
        data["kind"],
        code,
        readable(code, values),
        str(values.get("outcome") or "") if code in LAST_CODES else "",
    )
