"""Suspensions of a job as its cluster states them, as an event of the log."""

from __future__ import annotations

from scheduling.model.values import NONE
from twin.connectors.facts import JobFact
from twin.mirror.as_values import EventData


def event_of(index: int, fact: JobFact, was: JobFact | None, epoch_ms: int) -> EventData | None:
    """All suspensions of the job, in ms of the log; None where they are as before, or the cluster states none.

    A decision of the kind `suspended` states only that a poll has seen it: what came late began earlier.
    """
    if fact.suspensions is None or fact.suspensions == ((was and was.suspensions) or ()):
        return None
    spans = [
        [max(0, begin_ms - epoch_ms), NONE if end_ms is None else max(0, end_ms - epoch_ms)]
        for begin_ms, end_ms in fact.suspensions
    ]
    return "suspensions_set", {"job": index, "spans": spans}
