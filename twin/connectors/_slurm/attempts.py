"""Memory of jobs that ran: at a requeue, Slurm discards when the job was submitted, and what it held.

Measured on 22.05: a requeued job is COMPLETING with restarts + 1 and a start that moves with the clock, then PENDING
with a new submit time; a node that fails or a preemption does the same at once. A slurmctld that was killed may go back
to what it saved before the requeue.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from twin.connectors.facts import ENDED, REQUEUED, Attempt, JobFact, Share


@dataclass(slots=True)
class Known:
    """State of a job from earlier polls.

    submits  its submit times, oldest first
    ended  attempts that are over
    now    the attempt that runs
    held   its shares from the job's details; None where they were not asked for
    read   the last fact as it was read, and as it was reported: one that is read again is reported again
    """

    submits: tuple[int, ...]
    restarts: int
    seen_ms: int
    ended: tuple[Attempt, ...] = ()
    now: Attempt | None = None
    held: tuple[Share, ...] | None = None
    read: JobFact | None = None
    reported: JobFact | None = None


@dataclass(slots=True)
class Attempts:
    """Jobs that ran or were requeued, by key."""

    known: dict[str, Known] = field(default_factory=dict)

    def settled(self, found: list[JobFact], at_ms: int) -> tuple[JobFact, ...]:
        """The facts of a complete poll with the stored attempts; jobs that are not in it are forgotten."""
        before, self.known = self.known, {}
        return tuple(
            self._settled(fact, before.get(fact.key), at_ms) if fact.attempts or fact.restarts else fact
            for fact in found
        )

    def detailed(self, fact: JobFact, held: tuple[Share, ...]) -> JobFact:
        """The fact with the shares of the job's details, which later polls repeat."""
        self.known[fact.key] = replace(self.known[fact.key], held=held, read=None)
        return replace(fact, attempts=(*fact.attempts[:-1], replace(fact.attempts[-1], shares=held)))

    def _settled(self, fact: JobFact, known: Known | None, at_ms: int) -> JobFact:
        if known is not None and known.read is fact and known.reported is not None:
            known.seen_ms = at_ms
            self.known[fact.key] = known
            return known.reported
        if known is None or not _same(fact, known):
            known = Known((fact.submitted_ms,), fact.restarts, at_ms)
        submits = known.submits
        if fact.submitted_ms not in submits:
            submits = (*submits, fact.submitted_ms)
        ended, held = known.ended, known.held
        now = fact.attempts[-1] if fact.attempts else None
        if known.now is not None and fact.restarts > known.restarts:
            ended, held = (*ended, _requeued(known.now, known.seen_ms, min(at_ms, _end(fact, known, at_ms)))), None
        elif known.now is not None and now is None and fact.state == ENDED:
            # cancelled while it was being requeued
            now = replace(known.now, ended_ms=fact.ended_ms, outcome=fact.outcome)
        elif known.now is not None and now is not None and now.started_ms != known.now.started_ms:
            held = None
        if (
            now is not None
            and held is not None
            and {share.node for share in held} == {share.node for share in now.shares}
        ):
            now = replace(now, shares=held)
        attempts = (*ended, now) if now else ended
        reported = replace(fact, submitted_ms=submits[0], resubmitted_ms=submits[1:], attempts=attempts)
        self.known[fact.key] = Known(submits, fact.restarts, at_ms, ended, now, held, fact, reported)
        return reported


def _same(fact: JobFact, known: Known) -> bool:
    """True if it is the known job, and not another one with its number."""
    return fact.submitted_ms in known.submits or (
        0 < fact.restarts >= known.restarts and fact.submitted_ms > known.submits[-1]
    )


def _end(fact: JobFact, known: Known, at_ms: int) -> int:
    """Latest end of the attempt before: a requeued job is submitted again at that time."""
    again = known.now is not None and fact.submitted_ms > max(known.submits[-1], known.now.started_ms)
    return fact.submitted_ms if again else at_ms


def _requeued(attempt: Attempt, seen_ms: int, end_ms: int) -> Attempt:
    end_ms = max(end_ms, attempt.started_ms)
    return replace(
        attempt, ended_ms=end_ms, outcome=REQUEUED, ended_after_ms=min(max(seen_ms, attempt.started_ms), end_ms)
    )
