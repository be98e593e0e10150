"""Newest decisions about jobs at a time, and their reasons as sentences."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np

from scheduling.reporting.reasons import readable
from twin.eventlog import event_log
from twin.eventlog.fold import AT, JOB_OF, SEQ, RunState
from twin.models import Run

MAX_KEPT = 20_000  # sentences of a web process; an event never changes


def newest_decisions(state: RunState, jobs: Collection[int], at_ms: int) -> dict[int, int]:
    """Event of the newest decision up to the time, by job."""
    rows = state.decided.rows
    rows = rows[: int(np.searchsorted(rows[:, AT], at_ms, side="right"))]
    rows = rows[np.isin(rows[:, JOB_OF], list(jobs))]
    return dict(zip(rows[:, JOB_OF].tolist(), rows[:, SEQ].tolist(), strict=True))  # the last one of a job stays


def sentences(run: Run, decisions: dict[int, int]) -> dict[int, str]:
    """Sentence of the decision of each job."""
    made = run.created_at.isoformat()
    return {job: _sentence(run.pk, made, seq) for job, seq in decisions.items()}


def verdicts(run: Run, decisions: dict[int, int]) -> dict[int, tuple[str, str]]:
    """(kind, code) of the decision of each job."""
    made = run.created_at.isoformat()
    return {job: _decision(run.pk, made, seq)[:2] for job, seq in decisions.items()}


def _sentence(run_id: int, made: str, seq: int) -> str:
    return _decision(run_id, made, seq)[2]


@lru_cache(MAX_KEPT)
def _decision(run_id: int, made: str, seq: int) -> tuple[str, str, str]:
    """(kind, code, sentence) of one event; made: start of the run, as its number is used again after a deletion."""
    found = event_log.line_at(run_id, seq, ("decided",))
    if found is None:
        return "", "", ""
    _, _, _, data = found
    return data["kind"], data["code"], readable(data["code"], data["values"])
