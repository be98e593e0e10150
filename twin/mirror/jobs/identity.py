"""Identity of jobs: which facts are about one job, though a cluster uses keys again and restates submit times.

Kubernetes gives every object a uid. Slurm gives a requeued job a new submit time. A poll may show the rise of its
restarts before the new time, so a follower that starts in between has not seen them together. A slurmctld that was
killed may go back to the time before.
"""

from __future__ import annotations

from dataclasses import replace

from twin.connectors.facts import ENDED, LOST, NODE_FAIL, PREEMPTED, REQUEUED, JobFact

QUEUED_AGAIN = (LOST, NODE_FAIL, PREEMPTED, REQUEUED)  # outcomes after which a job may be queued again


def is_same(known: JobFact, fact: JobFact, forgotten: bool = False) -> bool:
    """True if a fact with the key of a known job is about that job, and not about another one with its key.

    forgotten: the newest complete poll no longer had the known job.
    """
    if known is fact:  # connectors repeat what has not changed
        return True
    if known.uid and fact.uid:
        return known.uid == fact.uid
    if have_common_time(known, fact):
        return True
    return fact.submitted_ms > known.submitted_ms and fact.restarts > 0 and _goes_on(known, fact, forgotten)


def have_common_time(known: JobFact, fact: JobFact) -> bool:
    """True if both have a submit time in common, which no other job with the key has."""
    if known.submitted_ms == fact.submitted_ms:
        return True
    return not {*known.submit_times}.isdisjoint(fact.submit_times)


def _goes_on(known: JobFact, fact: JobFact, forgotten: bool) -> bool:
    """True if the known job may have been queued again: its counter rises, or it has not ended for good.

    A cluster that no longer has a job cannot queue it again.
    """
    if known.user and fact.user and known.user != fact.user:
        return False
    if known.state != ENDED:
        return True
    if known.outcome == LOST:
        return known.ended_ms is None or fact.submitted_ms <= known.ended_ms
    return not forgotten and (known.outcome in QUEUED_AGAIN or fact.restarts > known.restarts)


def with_times(fact: JobFact, known: JobFact) -> JobFact:
    """The fact with all submit times that are known of its job."""
    if fact.submitted_ms == known.submitted_ms and fact.resubmitted_ms == known.resubmitted_ms:
        return fact
    first, *later = sorted({*known.submit_times, *fact.submit_times})
    return replace(fact, submitted_ms=first, resubmitted_ms=tuple(later))
