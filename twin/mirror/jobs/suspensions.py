"""Suspensions of a job: as its cluster states them, or as polls have seen them."""

from __future__ import annotations

from dataclasses import replace

from scheduling.model.bars import NONE
from twin.connectors.facts import SUSPENDED, JobFact
from twin.mirror.as_values import EventData


def as_seen(fact: JobFact, was: JobFact | None, at_ms: int) -> JobFact:
    """The fact with the suspensions that free the CPUs of the job, by the times of the polls that have seen them."""
    if not (fact.frees_cpus or (was is not None and was.frees_cpus)):
        return fact
    spans = (fact.suspensions if was is None else was.suspensions) or ()
    begin_ms, end_ms = spans[-1] if spans else (at_ms, at_ms)
    is_open = end_ms is None
    is_suspended = fact.state == SUSPENDED and fact.frees_cpus
    if is_suspended and not is_open:
        spans = (*spans, (at_ms, None))
    elif is_open and not is_suspended:
        spans = (*spans[:-1], (begin_ms, max(begin_ms, fact.ended_ms or at_ms)))
    return replace(fact, suspensions=spans or None, frees_cpus=True)


def event_of(index: int, fact: JobFact, was: JobFact | None, epoch_ms: int) -> EventData | None:
    """All suspensions of the job, in ms of the log; None where they are as before, or the cluster states none.

    A decision of the kind `suspended` states only that a poll has seen it: what came late began earlier.
    """
    if fact.frees_cpus:  # their times are those of the decisions
        return None
    if fact.suspensions is None or fact.suspensions == ((was and was.suspensions) or ()):
        return None
    spans = [
        [max(0, begin_ms - epoch_ms), NONE if end_ms is None else max(0, end_ms - epoch_ms)]
        for begin_ms, end_ms in fact.suspensions
    ]
    return "suspensions_set", {"job": index, "spans": spans}
