"""Divergence of two runs: the first instant at which they decide differently about a common job.

Decisions of one instant are compared as a set by job, not one after the other: two schedulers may name the same jobs in
another order. A decision is the plan (its bars, whatever they are called) or a refusal; a verdict that changes neither
is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twin.analysis.comparison.decisions import REFUSAL, REJECTED, UNFINISHED, Decisions
from twin.eventlog.fold import AT, JOB_OF, SEQ, VERDICT_OF


@dataclass(frozen=True)
class Divergence:
    """The first difference: job is a position among the shared ones."""

    at_ms: int
    job: int
    jobs: int  # decided otherwise at that instant
    same: int  # decisions that the runs have in common before it


def first_divergence(
    base: Decisions, other: Decisions, places: tuple[np.ndarray, np.ndarray], until_ms: int, from_ms: int = 0
) -> Divergence | None:
    """First divergence from from_ms on; None if all decisions up to the time are the same.

    places: of each run, [job index] its position among the shared jobs, -1 for a job that is not shared.
    """
    ours, theirs = (_acts(one, place, from_ms, until_ms) for one, place in zip((base, other), places, strict=True))
    at_ms, job, seq = (np.concatenate(pair) for pair in zip(ours[:3], theirs[:3], strict=True))
    number = np.concatenate((ours[3], np.uint64(0) - theirs[3]))  # equal acts cancel out
    if not len(number):
        return None
    order = np.lexsort((job, at_ms))
    at_ms, job, seq, number = at_ms[order], job[order], seq[order], number[order]
    begins = np.flatnonzero(np.concatenate(([True], (at_ms[1:] != at_ms[:-1]) | (job[1:] != job[:-1]))))
    differs = np.add.reduceat(number, begins) != 0
    if not differs.any():
        return None
    moment = at_ms[begins[differs.argmax()]]
    there = np.flatnonzero(differs & (at_ms[begins] == moment))
    first = there[np.minimum.reduceat(seq, begins)[there].argmin()]  # the one that was decided first
    return Divergence(int(moment), int(job[begins[first]]), len(there), int((at_ms[begins] < moment).sum()))


def _acts(
    decisions: Decisions, place: np.ndarray, from_ms: int, until_ms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(at_ms, shared job, seq, number) of each plan and refusal."""
    verdicts, plans = decisions.verdicts, decisions.plans
    refused = verdicts[np.isin(verdicts[:, VERDICT_OF], (REJECTED, UNFINISHED))]
    rows = np.concatenate((plans, refused[:, :VERDICT_OF]))
    numbers = np.concatenate((decisions.digests, np.full(len(refused), REFUSAL)))
    job = place[rows[:, JOB_OF]] if len(rows) else rows[:, JOB_OF]
    kept = (job >= 0) & (rows[:, AT] >= from_ms) & (rows[:, AT] <= until_ms)
    return rows[kept, AT], job[kept], rows[kept, SEQ], numbers[kept]
