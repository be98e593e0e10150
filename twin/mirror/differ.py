"""Differ: compares a poll of a real cluster with the log, and returns the difference as events. It is pure.

Laws (tests/twin/mirror/test_differ_laws.py): repeating a poll gives no events; after any looks, lost, repeated or out
of order, the picture of the open jobs and of the nodes is that of the newest look; the time of the log never runs
backwards; a job ends only when the cluster says so, or when a complete look no longer has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from scheduling.model.values import LARGEST, NONE
from twin.connectors.facts import (
    DOWN,
    DRAINED,
    ENDED,
    HELD,
    LOST,
    REQUEUED,
    RUNNING,
    SUSPENDED,
    WAITING,
    Attempt,
    JobFact,
    NodeFact,
    Snapshot,
)
from twin.mirror.as_values import OPEN, bars_of, job_of, plain_name, server_of
from twin.mirror.sites import SiteRule

UNAVAILABLE = (DOWN, DRAINED)
HOUR_MS = 3_600_000
RESOLUTION_MS = 1_000  # of the times that clusters tell
EventData = tuple[str, Mapping[str, Any]]  # (kind, data) of an event


@dataclass(slots=True)
class KnownJob:
    """A job of the log: its newest fact, and all attempts that are known of it."""

    index: int
    name: str
    fact: JobFact
    attempts: tuple[Attempt, ...] = ()
    seen_ms: int = 0  # when a look last had it, in the cluster's time


@dataclass(slots=True)
class KnownNode:
    """A node of the log, when it was unavailable in ms of the log, and its site in the log."""

    index: int
    fact: NodeFact
    away: tuple[tuple[int, int], ...] = ()
    site: str = ""  # empty until it is written


@dataclass(slots=True)
class Mirror:
    """State of a cluster by the log. epoch_ms: the cluster's time at which the log begins."""

    epoch_ms: int
    sites: SiteRule = field(default_factory=SiteRule)
    jobs: list[KnownJob] = field(default_factory=list)
    nodes: dict[str, KnownNode] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)  # key -> index of the newest job with it
    open: set[int] = field(default_factory=set)  # jobs that have not ended
    names: set[str] = field(default_factory=set)
    at_ms: int = 0  # the cluster's time of the newest look
    log_ms: int = 0  # the time of the newest event
    called: dict[str, str] = field(default_factory=dict)  # key -> name of the job in the run before
    past: dict[tuple[str, int], int] = field(default_factory=dict)  # (key, submit time) -> restarts: ended before it
    since_ms: int = 0  # the cluster's time at which the run before ended; 0: there is none
    changed_jobs: set[int] = field(default_factory=set)  # since `take_changed`
    changed_nodes: set[str] = field(default_factory=set)

    def look(self, snapshot: Snapshot) -> list[EventData]:
        """Events by which the log catches up with the poll; none for one that is older than the newest."""
        if snapshot.at_ms < self.at_ms:
            return []
        before_ms, self.at_ms = self.at_ms, snapshot.at_ms
        self.log_ms = max(self.log_ms, self.at_ms - self.epoch_ms)
        events: list[EventData] = []
        fresh = self._nodes(snapshot.nodes, events) if snapshot.nodes is not None else set()
        for known in [self.jobs[index] for index in sorted(self.open)] if fresh else ():
            if any(share.node in fresh for attempt in known.attempts for share in attempt.shares):
                self._add_bars(known, events)  # its node was not known when its bars were first written
        for fact in snapshot.jobs:
            self._job(fact, before_ms, events)
        if snapshot.complete and not snapshot.partial:
            for index in self.missing(snapshot):
                self._gone(self.jobs[index], events)
        return events

    def missing(self, snapshot: Snapshot) -> list[int]:
        """Jobs that are open in the log and not in the look; who asks the cluster's accounting does so first.

        Not those that the account may not see now: nothing is known of them.
        """
        there = {self.newest.get(fact.key) for fact in snapshot.jobs}
        absent = sorted(self.open - there)
        return [index for index in absent if snapshot.own in ("", self.jobs[index].fact.user)]

    def knows(self, fact: JobFact) -> bool:
        """True if the fact is about a job of the log, and not about another one with its key."""
        return self._known(fact) is not None

    def restate(self, facts: Iterable[JobFact]) -> list[EventData]:
        """Events of facts from the cluster's accounting, or of job details, about any time before the newest look."""
        events: list[EventData] = []
        for fact in facts:
            self._job(fact, self.at_ms, events)
        return events

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
        nodes = [self.nodes[name] for name in sorted(self.changed_nodes)]
        self.changed_jobs, self.changed_nodes = set(), set()
        return jobs, nodes

    # Jobs.

    def _job(self, fact: JobFact, before_ms: int, events: list[EventData]) -> None:
        known = self._known(fact)
        if known is None:
            if self._is_past(fact):
                return
            known = self._add(fact, events)
            was = None
        else:
            was = known.fact
            if _repeats(known, fact):
                known.fact, known.seen_ms = fact, self.at_ms  # the connector keeps this one as well: one copy
                return
            if (
                was.state == ENDED
                and fact.state != ENDED
                and fact.restarts <= was.restarts
                and not fact.complete_history
            ):
                return  # an old answer: what has ended goes on only as another attempt
        known.seen_ms = self.at_ms
        attempts = _merged(known.attempts, fact, before_ms, self.at_ms)
        held = job_of(known.name, replace(fact, attempts=attempts), 0)
        resized = was is not None and _amounts(held) != _amounts(
            job_of(known.name, replace(was, attempts=known.attempts), 0)
        )
        changed = attempts != known.attempts
        if changed or was != fact:
            self.changed_jobs.add(known.index)
        known.fact, known.attempts = fact, attempts
        if resized:
            fields = asdict(replace(held, arrival_ms=self._arrival_ms(fact)))
            events.append(("job_set", {"job": known.index, "fields": fields}))
        self._add_state(known, was, events)
        if changed:
            self._add_bars(known, events)
        if fact.state == ENDED:
            self._ended(known, was, events)
        else:
            self.open.add(known.index)

    def _known(self, fact: JobFact) -> KnownJob | None:
        """The job that the fact is about: that of its key and submit time, or one queued again under its key."""
        index = self.newest.get(fact.key)
        while index is not None:
            known = self.jobs[index]
            if known.fact.submitted_ms == fact.submitted_ms:
                return known
            if fact.submitted_ms > known.fact.submitted_ms:  # a node failure gives a new submit time to the same job
                return known if fact.restarts > known.fact.restarts else None
            index = next((job.index for job in reversed(self.jobs[:index]) if job.fact.key == fact.key), None)
        return None

    def _is_past(self, fact: JobFact) -> bool:
        """True if the fact is about a job that ended in an earlier run."""
        restarts = self.past.get((fact.key, fact.submitted_ms))
        if restarts is not None:
            return fact.restarts <= restarts
        end_ms = fact.attempts[-1].ended_ms if fact.attempts else fact.ended_ms
        return fact.state == ENDED and end_ms is not None and end_ms <= self.since_ms - RESOLUTION_MS

    def _add(self, fact: JobFact, events: list[EventData]) -> KnownJob:
        known = KnownJob(len(self.jobs), self._name(fact.key), fact)
        self.jobs.append(known)
        self.newest[fact.key] = known.index
        arrival_ms = self._arrival_ms(fact)
        events.append(("job_added", {"job": known.index, "fields": asdict(job_of(known.name, fact, arrival_ms))}))
        events.append(("job_arrived", {"job": known.index, "submitted_ms": arrival_ms}))
        return known

    def _arrival_ms(self, fact: JobFact) -> int:
        return max(0, fact.submitted_ms - self.epoch_ms)

    def _name(self, key: str) -> str:
        """The key, with a number behind it where the cluster uses a key again."""
        plain = plain_name(key)
        name, number = self.called.pop(key, plain), 2
        while name in self.names:
            name, number = f"{plain}~{number}", number + 1
        self.names.add(name)
        return name

    def _add_state(self, known: KnownJob, was: JobFact | None, events: list[EventData]) -> None:
        fact = known.fact
        values = {"reason": fact.reason}
        if was is not None and fact.restarts > was.restarts:
            events.append(_decided(known, "requeued", {**values, "restarts": fact.restarts}))
        elif was is not None and (was.state, was.reason) == (fact.state, fact.reason):
            return
        if fact.state in (WAITING, HELD):
            events.append(_decided(known, "waits", values, "held" if fact.state == HELD else "waits"))
        elif fact.state == RUNNING:
            if was is not None and was.state == SUSPENDED:
                events.append(_decided(known, "resumed", values))
            elif was is None or was.state != RUNNING or fact.restarts > was.restarts:
                waited = max(0, fact.attempts[-1].started_ms - fact.submitted_ms) if fact.attempts else 0
                events.append(_decided(known, "started", {**values, "waited_ms": waited}))
        elif fact.state == SUSPENDED:
            events.append(_decided(known, "suspended", values))

    def _add_bars(self, known: KnownJob, events: list[EventData]) -> None:
        bars = bars_of(known.index, known.attempts, self._indices(), self.epoch_ms)
        start_ms = min((bar.start_ms for bar in bars), default=NONE)
        ended = known.attempts and known.fact.state == ENDED
        finish_ms = max((bar.end_ms for bar in bars), default=NONE) if ended else NONE
        events.append(
            (
                "plan_changed",
                {
                    "scope": "observed",
                    "keys": [known.index],
                    "jobs": [[known.index, start_ms, finish_ms]],
                    "bars": bars,
                },
            )
        )

    def _ended(self, known: KnownJob, was: JobFact | None, events: list[EventData]) -> None:
        if known.index not in self.open and was is not None:
            return
        self.open.discard(known.index)
        fact = known.fact
        values: dict[str, Any] = {"reason": fact.reason, "outcome": fact.outcome}
        last = known.attempts[-1] if known.attempts else None
        if last is not None and last.ended_after_ms is not None:
            values |= {"after_ms": max(0, last.ended_after_ms - self.epoch_ms)}
        events.append(
            _decided(
                known, "ended" if known.attempts else "rejected", values, "ended" if known.attempts else "withdrawn"
            )
        )
        if known.attempts:
            events.append(("job_completed", {"job": known.index, "utility": 0.0, "ended_ms": self._end_ms(known)}))

    def _end_ms(self, known: KnownJob) -> int:
        ended = known.attempts[-1].ended_ms or known.fact.ended_ms or self.at_ms
        return min(self.log_ms, max(0, ended - self.epoch_ms))

    def _gone(self, known: KnownJob, events: list[EventData]) -> None:
        """A complete look no longer has the job: it ended at some time since it was last seen."""
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

    # Nodes.

    def _nodes(self, facts: Sequence[NodeFact], events: list[EventData]) -> set[str]:
        """Emits changes of nodes; returns the unknown nodes."""
        fresh = set()
        for fact in facts:
            known = self.nodes.get(fact.name)
            if known is None:
                fresh.add(fact.name)
                known = self.nodes[fact.name] = KnownNode(len(self.nodes), fact)
                if fact.state in UNAVAILABLE:
                    known.away = ((self.log_ms, LARGEST),)
                self.changed_nodes.add(fact.name)
                events.append(("server_added", {"server": known.index, "fields": self._server(known)}))
            else:
                self._set_node(known, fact, events)
        there = {fact.name for fact in facts}
        for name, known in self.nodes.items():
            if name not in there and known.fact.state != DOWN:
                self._set_node(
                    known, replace(known.fact, state=DOWN, reason="the cluster no longer has this node"), events
                )
        self._set_sites(events)
        return fresh

    def _set_sites(self, events: list[EventData]) -> None:
        """Nodes that the rule puts elsewhere than the log does: the rule was changed."""
        for name, known in self.nodes.items():
            if known.site != self.sites.site(known.fact):
                self.changed_nodes.add(name)
                events.append(("server_set", {"server": known.index, "fields": self._server(known)}))

    def _set_node(self, known: KnownNode, fact: NodeFact, events: list[EventData]) -> None:
        was, known.fact = known.fact, fact
        if was == fact:
            return
        self.changed_nodes.add(fact.name)
        left, returned = _unavailable(fact) and not _unavailable(was), _unavailable(was) and not _unavailable(fact)
        if left:
            known.away = (*known.away, (max(self.log_ms, known.away[-1][1] + 1 if known.away else 0), LARGEST))
        elif returned:
            begin = known.away[-1][0]
            known.away = (*known.away[:-1], (begin, max(self.log_ms, begin + 1)))
        state = {"state": fact.state, "reason": fact.reason}
        events.append(("server_set", {"server": known.index, "fields": self._server(known), **state}))
        if left or returned:
            events.append(("server_changed", {"server": known.index, "away": left}))

    def _server(self, known: KnownNode) -> dict[str, Any]:
        known.site = self.sites.site(known.fact)
        return asdict(server_of(known.fact, known.site, known.away))

    def _indices(self) -> dict[str, int]:
        return {name: known.index for name, known in self.nodes.items()}


def epoch_of(first: Snapshot) -> int:
    """The cluster's time at which a log begins: the hour in which the oldest job open at the first look began."""
    open_ = [job for job in first.jobs if job.state != ENDED]
    times = [job.submitted_ms for job in open_] + [attempt.started_ms for job in open_ for attempt in job.attempts]
    oldest = min([ms for ms in times if ms <= first.at_ms], default=first.at_ms)
    return oldest - oldest % HOUR_MS


def _unavailable(fact: NodeFact) -> bool:
    return fact.state in UNAVAILABLE


def _amounts(job: Any) -> tuple[Any, ...]:
    return job.worker, job.requested_workers


def _decided(known: KnownJob, kind: str, values: Mapping[str, Any], code: str = "") -> EventData:
    """code: of scheduling/observed/reasons.py; by default the kind itself."""
    return "decided", {
        "job": known.index,
        "kind": kind,
        "code": code or kind,
        "values": {k: v for k, v in values.items() if v != ""},
    }


def _repeats(known: KnownJob, fact: JobFact) -> bool:
    """True if the fact is the job's newest one again, as most are; not if an attempt of it began only now."""
    if known.fact is not fact and known.fact != fact:
        return False
    starts = {attempt.started_ms for attempt in known.attempts}
    return all(attempt.started_ms in starts for attempt in fact.attempts)


def _merged(known: tuple[Attempt, ...], fact: JobFact, before_ms: int, at_ms: int) -> tuple[Attempt, ...]:
    """All attempts of a job: those known, and those that the fact tells, which it tells better."""
    reported = tuple(attempt for attempt in fact.attempts if attempt.started_ms <= at_ms)
    merged = {attempt.started_ms: attempt for attempt in known}
    if fact.complete_history:
        return tuple(_with_details(merged.get(attempt.started_ms), attempt) for attempt in reported)
    for attempt in reported:
        merged[attempt.started_ms] = _with_details(merged.get(attempt.started_ms), attempt)
    attempts = [merged[started_ms] for started_ms in sorted(merged)]
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


def _with_details(known: Attempt | None, reported: Attempt) -> Attempt:
    """The attempt as reported; GPU indices and an end that were known before stay where it does not tell them."""
    if known is None:
        return reported
    ids = {share.node: share for share in known.shares if share.gpu_ids}
    shares = tuple(
        replace(share, gpu_ids=ids[share.node].gpu_ids)
        if not share.gpu_ids and share.node in ids and ids[share.node].gpus == share.gpus
        else share
        for share in reported.shares or known.shares
    )
    if reported.ended_ms is None and known.ended_ms is not None and known.outcome not in ("", LOST):
        return replace(known, shares=shares)
    return replace(reported, shares=shares)


__all__ = ["OPEN", "EventData", "KnownJob", "KnownNode", "Mirror"]
