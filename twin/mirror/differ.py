"""Differ: compares a poll of a real cluster with the log, and returns the difference as events. It is pure.

Laws (tests/twin/mirror/jobs/test_differ_laws.py): repeating a poll gives no events; after any polls, lost, repeated or
out of order, the state of the open jobs and of the nodes is that of the newest poll; the time of the log never runs
backwards; a job ends only when the cluster says so, or when a complete snapshot no longer has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace

from twin.connectors.facts import ENDED, LOST, RUNNING, Attempt, JobFact, Snapshot
from twin.mirror.as_values import EventData, plain_name
from twin.mirror.jobs import attempts as of_attempts
from twin.mirror.jobs import job_events, suspensions
from twin.mirror.jobs.identity import have_common_time, is_same, with_times
from twin.mirror.jobs.known import KnownJob
from twin.mirror.nodes.known import KnownNode, Nodes
from twin.mirror.nodes.reservations import Reservations, event_of
from twin.mirror.nodes.sites import SiteRule
from twin.mirror.passes import Passes

HOUR_MS = 3_600_000
RESOLUTION_MS = 1_000  # of the times that clusters tell


@dataclass(slots=True)
class Mirror:
    """State of a cluster by the log. epoch_ms: the cluster's time at which the log begins."""

    epoch_ms: int
    sites: SiteRule = field(default_factory=SiteRule)
    jobs: list[KnownJob] = field(default_factory=list)
    nodes: Nodes = field(default_factory=Nodes)
    newest: dict[str, int] = field(default_factory=dict)  # key -> index of the newest job with it
    open: set[int] = field(default_factory=set)  # jobs that have not ended
    names: set[str] = field(default_factory=set)
    at_ms: int = 0  # the cluster's time of the newest poll
    log_ms: int = 0  # the time of the newest event
    called: dict[str, str] = field(default_factory=dict)  # key -> name of the job in the run before
    past: dict[tuple[str, int], int] = field(default_factory=dict)  # (key, a submit time) -> restarts: ended before it
    since_ms: int = 0  # the cluster's time at which the run before ended; 0: there is none
    reservations: Reservations = field(default_factory=Reservations)
    passes: Passes = field(default_factory=Passes)
    uncertain: set[int] = field(default_factory=set)  # jobs whose attempts the accounting may know better
    complete_ms: int = 0  # the cluster's time of the newest poll that had all jobs
    changed_jobs: set[int] = field(default_factory=set)  # since `take_changed`

    def apply(self, snapshot: Snapshot, awaited: Set[int] = frozenset()) -> list[EventData]:
        """Events by which the log catches up with the poll; none for one that is older than the newest.

        awaited: jobs that stay open although the poll no longer has them.
        """
        if snapshot.at_ms < self.at_ms:
            return []
        before_ms, self.at_ms = self.at_ms, snapshot.at_ms
        self.log_ms = max(self.log_ms, self.at_ms - self.epoch_ms)
        events: list[EventData] = []
        fresh = set()
        if snapshot.nodes is not None:
            fresh = self.nodes.apply(snapshot.nodes, self.sites, self.log_ms, events, self.epoch_ms)
        for known in [self.jobs[index] for index in sorted(self.open)] if fresh else ():
            if any(share.node in fresh for attempt in known.attempts for share in attempt.shares):
                self._add_bars(known, events)  # its node was not known when its bars were first written
        for fact in snapshot.jobs:
            self._job(fact, before_ms, events)
        if snapshot.reservations is not None:
            indices = self.nodes.indices()
            events += [
                event_of(known, indices, self.epoch_ms)
                for known in self.reservations.apply(snapshot.reservations, self.at_ms)
            ]
        if snapshot.backfilled_ms is not None:
            self.passes.add(snapshot.backfilled_ms - self.epoch_ms)
        if snapshot.complete and not snapshot.partial:
            self.complete_ms = self.at_ms
            for index in self.missing(snapshot):
                if index in awaited:
                    continue
                self._gone(self.jobs[index], events)
        return events

    def missing(self, snapshot: Snapshot) -> list[int]:
        """Jobs that are open in the log and not in the snapshot; who asks the cluster's accounting does so first.

        Not those that the account may not see now: nothing is known of them.
        """
        there = {known.index for known in map(self._known, snapshot.jobs) if known is not None}
        absent = sorted(self.open - there)
        return [index for index in absent if snapshot.own in ("", self.jobs[index].fact.user)]

    def knows(self, fact: JobFact) -> bool:
        """True if the fact is about a job of the log, and not about another one with its key."""
        return self._known(fact) is not None

    def has_time_of(self, fact: JobFact) -> bool:
        """True if a job of the log has the key and a submit time of the fact."""
        index = self.newest.get(fact.key)
        return index is not None and have_common_time(self.jobs[index].fact, fact)

    def has_ended(self, fact: JobFact) -> bool:
        """True if the log has the end of the job, in this attempt or a later one."""
        known = self._known(fact)
        return known is not None and known.fact.state == ENDED and fact.restarts <= known.fact.restarts

    def restate(self, facts: Iterable[JobFact]) -> list[EventData]:
        """Events of facts about any time before the newest poll, such as the details of jobs."""
        events: list[EventData] = []
        for fact in facts:
            self._job(fact, self.at_ms, events)
        return events

    def accounted(self, facts: Iterable[JobFact]) -> list[EventData]:
        """Events of what the cluster's accounting says of jobs of the log; their states are those of the polls.

        It states all attempts of a job that has ended, and the earlier ones of a job that is open.
        """
        events: list[EventData] = []
        for fact in facts:
            known = self._known(fact)
            if known is None:
                continue
            if known.fact.state == ENDED and not self.is_behind(fact):
                self._job(fact, self.at_ms, events)
            else:
                self._correct(known, fact, events)
        return events

    def is_behind(self, fact: JobFact) -> bool:
        """True if the accounting does not know yet how a job of the log went on after what it states."""
        known = self._known(fact)
        return known is not None and known.is_behind(fact)

    def undetailed(self) -> list[tuple[str, int]]:
        """(key, start) of running jobs whose GPU indices the cluster has not reported."""
        return [
            (job.fact.key, job.attempts[-1].started_ms)
            for job in (self.jobs[index] for index in sorted(self.open))
            if job.fact.state == RUNNING
            and job.attempts
            and any(s.gpus != len(s.gpu_ids) for s in job.attempts[-1].shares)
        ]

    def take_changed(self) -> tuple[list[KnownJob], list[KnownNode]]:
        """Jobs and nodes that have changed since this was asked last."""
        jobs = [self.jobs[index] for index in sorted(self.changed_jobs)]
        self.changed_jobs = set()
        return jobs, self.nodes.take_changed()

    def _job(self, fact: JobFact, before_ms: int, events: list[EventData]) -> None:
        known = self._known(fact)
        if known is None:
            if self._is_past(fact):
                return
            was = None
            fact = suspensions.as_seen(fact, was, self.at_ms)
            known = self._add(fact, events)
            attempts = of_attempts.merged((), fact, before_ms, self.at_ms)
        else:
            was = known.fact
            fact = suspensions.as_seen(fact, was, self.at_ms)
            if known.is_repeated_by(fact):
                known.fact, known.seen_ms = fact, self.at_ms  # the connector keeps this one as well: one copy
                return
            attempts = of_attempts.merged(known.attempts, fact, before_ms, self.at_ms)
            fact = with_times(fact, was)
            if known.is_repeated_by(fact) or known.is_newer_than(fact):
                known.seen_ms = self.at_ms
                return
            if fact.complete_history and fact.state == ENDED and fact.restarts < was.restarts:
                fact = replace(fact, restarts=was.restarts)  # the accounting has lost a record
        known.seen_ms = self.at_ms
        had, end_before = known.attempts, known.end
        self._set(known, fact, attempts)
        if was is not None:
            events += job_events.fields_changed(known, was, had, self.epoch_ms)
        events += job_events.state_changed(known, was)
        if attempts != had or (fact.frees_cpus and fact.suspensions != (was and was.suspensions)):
            self._add_bars(known, events)
        if fact.state == ENDED:
            if was is None or known.index in self.open or end_before != known.end:
                self._ended(known, events)
        else:
            self.open.add(known.index)
        if (stated := suspensions.event_of(known.index, fact, was, self.epoch_ms)) is not None:
            events.append(stated)

    def _correct(self, known: KnownJob, accounted: JobFact, events: list[EventData]) -> None:
        """Correction of earlier attempts and of submit times by the accounting; the state stays."""
        fact = with_times(known.fact, accounted)
        attempts = of_attempts.with_ends(known.attempts, accounted.attempts, self.at_ms)
        was, had = known.fact, known.attempts
        self._set(known, fact, attempts)
        events += job_events.fields_changed(known, was, had, self.epoch_ms)
        if attempts != had:
            self._add_bars(known, events)

    def _set(self, known: KnownJob, fact: JobFact, attempts: tuple[Attempt, ...]) -> None:
        if (fact, attempts) != (known.fact, known.attempts):
            self.changed_jobs.add(known.index)
        known.fact, known.attempts = fact, attempts
        if of_attempts.are_uncertain(fact, attempts):
            self.uncertain.add(known.index)
        else:
            self.uncertain.discard(known.index)

    def _known(self, fact: JobFact) -> KnownJob | None:
        """The job that the fact is about: the newest one of its key that is the same."""
        index = self.newest.get(fact.key)
        while index is not None:
            known = self.jobs[index]
            if is_same(known.fact, fact, forgotten=known.seen_ms < self.complete_ms):
                return known
            if fact.submitted_ms > known.fact.submitted_ms:
                return None
            index = next((job.index for job in reversed(self.jobs[:index]) if job.fact.key == fact.key), None)
        return None

    def _is_past(self, fact: JobFact) -> bool:
        """True if the fact is about a job that ended in an earlier run."""
        for submitted_ms in fact.submit_times:
            restarts = self.past.get((fact.key, submitted_ms))
            if restarts is not None:
                return fact.restarts <= restarts
        end_ms = fact.attempts[-1].ended_ms if fact.attempts else fact.ended_ms
        return fact.state == ENDED and end_ms is not None and end_ms <= self.since_ms - RESOLUTION_MS

    def _add(self, fact: JobFact, events: list[EventData]) -> KnownJob:
        known = KnownJob(len(self.jobs), self._name(fact.key), fact)
        self.jobs.append(known)
        self.newest[fact.key] = known.index
        self.changed_jobs.add(known.index)
        events += job_events.added(known, self.epoch_ms)
        return known

    def _name(self, key: str) -> str:
        """The key, with a number after it where the cluster uses a key again."""
        plain = plain_name(key)
        name, number = self.called.pop(key, plain), 2
        while name in self.names:
            name, number = f"{plain}~{number}", number + 1
        self.names.add(name)
        return name

    def _add_bars(self, known: KnownJob, events: list[EventData]) -> None:
        events.append(job_events.bars_changed(known, self.nodes.indices(), self.epoch_ms))

    def _ended(self, known: KnownJob, events: list[EventData]) -> None:
        self.open.discard(known.index)
        events += job_events.ended(known, self.epoch_ms, self.at_ms, self.log_ms)

    def _gone(self, known: KnownJob, events: list[EventData]) -> None:
        """A complete snapshot no longer has the job: it ended at some time since it was last seen."""
        attempts = known.attempts
        if attempts and attempts[-1].ended_ms is None:
            attempts = (
                *attempts[:-1],
                replace(attempts[-1], ended_ms=self.at_ms, ended_after_ms=known.seen_ms, outcome=LOST),
            )
        fact = replace(
            known.fact,
            state=ENDED,
            outcome=LOST,
            reason="",
            ended_ms=self.at_ms,
            attempts=attempts,
            complete_history=True,
        )
        self._job(fact, known.seen_ms, events)


def epoch_of(first: Snapshot) -> int:
    """The cluster's time at which a log begins: the hour in which the oldest job of the first poll began.

    Also of the jobs that have ended by then: the log cannot state times before its beginning.
    """
    times = [job.submitted_ms for job in first.jobs]
    times += [attempt.started_ms for job in first.jobs for attempt in job.attempts]
    oldest = min([ms for ms in times if 0 < ms <= first.at_ms], default=first.at_ms)
    return oldest - oldest % HOUR_MS
