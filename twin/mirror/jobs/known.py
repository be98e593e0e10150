"""Job of a real cluster as the log has it: its newest fact and all attempts that are known of it."""

from __future__ import annotations

from dataclasses import dataclass

from twin.connectors.facts import ENDED, LOST, Attempt, JobFact
from twin.mirror.jobs import attempts as of_attempts
from twin.mirror.jobs.identity import QUEUED_AGAIN


@dataclass(slots=True)
class KnownJob:
    """A job of the log: its newest fact, and all attempts that are known of it."""

    index: int
    name: str
    fact: JobFact
    attempts: tuple[Attempt, ...] = ()
    seen_ms: int = 0  # when a poll last had it, in the cluster's time

    @property
    def end(self) -> tuple[str, int | None, bool]:
        """End of the job as the log states it: outcome, time, and whether it ran."""
        return self.fact.outcome, self.ended_ms, bool(self.attempts)

    @property
    def ended_ms(self) -> int | None:
        """End of the job in the cluster's time; None where the cluster states none.

        It is later than the end of the last attempt if the job waited again, or if its object outlived its pods.
        """
        last = self.attempts[-1].ended_ms if self.attempts else None
        return max((ms for ms in (self.fact.ended_ms, last) if ms is not None), default=None)

    def is_behind(self, fact: JobFact) -> bool:
        """True if the accounting, which states the fact, does not know yet how the job went on after it."""
        return of_attempts.is_behind(fact, self.fact, self.attempts)

    def is_repeated_by(self, fact: JobFact) -> bool:
        """True if the fact is the job's newest one again, as most are; not if an attempt of it began only now."""
        if self.fact is not fact and self.fact != fact:
            return False
        starts = {attempt.started_ms for attempt in self.attempts}
        return all(attempt.started_ms in starts for attempt in fact.attempts)

    def is_newer_than(self, fact: JobFact) -> bool:
        """True if the fact is older than the known end: what has ended goes on only as another attempt.

        A job that was lost, or whose last known attempt failed, goes on when it is shown again. What the accounting
        has stated is not replaced by the same end in a poll.
        """
        was = self.fact
        if was.state != ENDED or fact.restarts > was.restarts or fact.complete_history:
            return False
        if fact.state != ENDED:
            return was.outcome not in QUEUED_AGAIN
        return was.complete_history and was.outcome != LOST and of_attempts.repeats_end(fact, self.attempts)
