"""Attempts of a job from several sources: polls miss some and estimate ends, the accounting states them."""

from __future__ import annotations

from dataclasses import replace

from twin.connectors.facts import ENDED, LOST, REQUEUED, RUNNING, SUSPENDED, Attempt, JobFact
from twin.mirror.jobs.identity import QUEUED_AGAIN


def merged(known: tuple[Attempt, ...], fact: JobFact, before_ms: int, at_ms: int) -> tuple[Attempt, ...]:
    """All attempts of a job: those known, and those of the fact, which are more exact."""
    reported = tuple(attempt for attempt in fact.attempts if attempt.started_ms <= at_ms)
    found = {attempt.started_ms: attempt for attempt in known}
    if fact.complete_history:
        earlier = _not_covered(known, fact)
        return (*earlier, *(_with_details(found.get(attempt.started_ms), attempt) for attempt in reported))
    for attempt in reported:
        found[attempt.started_ms] = _with_details(found.get(attempt.started_ms), attempt)
    attempts = [found[started_ms] for started_ms in sorted(found)]
    current = fact.state in (RUNNING, SUSPENDED)
    for place, attempt in enumerate(attempts):
        last = place + 1 == len(attempts)
        if attempt.ended_ms is not None or (last and current):
            continue
        # Its end was not seen: a later attempt, or a state in which nothing runs, shows that it is over.
        latest = attempts[place + 1].started_ms if not last else (fact.ended_ms or at_ms)
        outcome = (fact.outcome if fact.state == ENDED and last else REQUEUED) or LOST
        ended_after = None if last and fact.ended_ms else max(attempt.started_ms, min(before_ms, latest))
        attempts[place] = replace(
            attempt, ended_ms=max(attempt.started_ms, latest), ended_after_ms=ended_after, outcome=outcome
        )
    return tuple(attempts)


def with_ends(known: tuple[Attempt, ...], accounted: tuple[Attempt, ...], at_ms: int) -> tuple[Attempt, ...]:
    """The known attempts with the ends that the accounting states, and with earlier ones that no poll has seen.

    An attempt that runs goes on: it ends when a poll shows it.
    """
    found = {attempt.started_ms: attempt for attempt in known}
    runs_ms = known[-1].started_ms if known and known[-1].ended_ms is None else at_ms + 1
    for attempt in accounted:
        if attempt.ended_ms is not None and attempt.started_ms < runs_ms:
            found[attempt.started_ms] = _with_details(found.get(attempt.started_ms), attempt)
    return tuple(found[started_ms] for started_ms in sorted(found))


def are_uncertain(fact: JobFact, attempts: tuple[Attempt, ...]) -> bool:
    """True if the accounting may know the attempts of a job better: its newest fact, and all that are known."""
    if fact.state == ENDED and fact.complete_history:
        return fact.outcome in QUEUED_AGAIN  # the record of the next attempt may be late
    if fact.state == ENDED:
        unseen = any(attempt.ended_after_ms is not None for attempt in attempts)
        return fact.restarts > 0 or len(attempts) > 1 or unseen or fact.outcome == LOST
    over = [attempt for attempt in attempts if attempt.ended_ms is not None]
    return len(over) < fact.restarts or not all(map(_is_exact, over))


def is_behind(fact: JobFact, known: JobFact, attempts: tuple[Attempt, ...]) -> bool:
    """True if the accounting does not know yet how an ended job went on: its last attempts are not in it.

    fact: its record; attempts: all that are known of the job.
    """
    if fact.ended_ms is None or (attempts and fact.ended_ms < attempts[-1].started_ms):
        return True
    return known.state == ENDED and fact.outcome in QUEUED_AGAIN and known.outcome not in (fact.outcome, LOST)


def repeats_end(fact: JobFact, attempts: tuple[Attempt, ...]) -> bool:
    """True if a poll shows of an ended job only what the accounting has stated, or estimates."""
    exact = {(attempt.started_ms, attempt.ended_ms) for attempt in attempts}
    return all(
        (attempt.started_ms, attempt.ended_ms) in exact for attempt in fact.attempts if attempt.ended_after_ms is None
    )


def _not_covered(known: tuple[Attempt, ...], fact: JobFact) -> list[Attempt]:
    """The known attempts about which a record says nothing: it begins with a later submit time of the job."""
    starts = {attempt.started_ms for attempt in fact.attempts}
    return [attempt for attempt in known if attempt.started_ms < fact.submitted_ms and attempt.started_ms not in starts]


def _is_exact(attempt: Attempt) -> bool:
    """True if the end of the attempt was stated by the cluster."""
    return attempt.ended_ms is not None and attempt.ended_after_ms is None and attempt.outcome not in ("", LOST)


def _with_details(known: Attempt | None, reported: Attempt) -> Attempt:
    """The attempt as reported; GPU indices and an end that were known before stay where it does not state them."""
    if known is None:
        return reported
    ids = {share.node: share for share in known.shares if share.gpu_ids}
    shares = tuple(
        replace(share, gpu_ids=ids[share.node].gpu_ids)
        if not share.gpu_ids and share.node in ids and ids[share.node].gpus == share.gpus
        else share
        for share in reported.shares or known.shares
    )
    unknown = reported.ended_ms is None and known.ended_ms is not None and known.outcome not in ("", LOST)
    # An end after the latest possible one belongs to a later attempt, whose start was not known yet.
    possible = known.ended_ms is not None and reported.ended_ms is not None and known.ended_ms <= reported.ended_ms
    estimated = reported.ended_after_ms is not None and _is_exact(known) and possible
    return replace(known, shares=shares) if unknown or estimated else replace(reported, shares=shares)
