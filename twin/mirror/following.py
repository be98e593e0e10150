"""Following a cluster: polls it repeatedly, and passes the events by which the log catches up to a writer.

A cluster that does not answer ends nothing: following continues when it is back, and reports the interval without data
as a gap.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, fields, replace
from typing import Any

from twin.connectors.base import Connector
from twin.connectors.facts import ENDED, ConnectorError, JobFact, Snapshot
from twin.mirror.as_values import EventData
from twin.mirror.differ import Mirror
from twin.mirror.health import Costs, Health, Lags, counts, not_up, unfit
from twin.mirror.jobs.confirming import Confirming
from twin.mirror.jobs.identity import QUEUED_AGAIN
from twin.mirror.renumbering import Numbers
from twin.mirror.sampling import Sampling

log = logging.getLogger(__name__)
RETRY_S = (1.0, 2.0, 5.0, 10.0)  # between polls of a cluster that does not answer; the last one goes on
MIN_LOST = 3  # this number of jobs may be gone at once without a second poll
MAX_DETAILS = 200  # jobs of one call
MAX_ASK_MS = 600_000  # between two questions to an accounting that does not answer
NOT_YET_FOLLOWED = "the cluster was not followed before this time"  # of which only jobs that are still open are known
MAX_UNSEEN_S = 10.0  # a longer time without a poll, before a restart, is reported as a gap
Write = Callable[[list[EventData], int], None]  # (events, ms of the log)


class Following:
    """One cluster, from its first poll on. `write` gets every event exactly once; if it raises, following ends."""

    def __init__(
        self, connector: Connector, mirror: Mirror, write: Write, *, interval_s: float = 1.0,
        stopped: Callable[[float], bool], sampling: Sampling | None = None, bordered: bool = False,
        polled: Callable[[Snapshot], None] = lambda snapshot: None,
    ) -> None:  # fmt: skip
        """stopped(seconds): waits that long at most; True when the following has to end. polled: called with each poll.

        bordered: another run can follow this one, where a cluster begins again with an empty state.
        """
        self.connector, self.mirror, self.write = connector, mirror, write
        self.interval_s, self.stopped, self.sampling, self.polled = interval_s, stopped, sampling, polled
        self.health = Health()
        self.applied = False  # a snapshot, by this process
        self.unseen = ""  # why there was no poll before this process; reported as a gap with the first poll
        self.lags, self.costs = Lags(), Costs(connector.times_controller)
        self.awaited: dict[int, int] = {}  # jobs no longer shown, of whose end the accounting has no record: since when
        self.until_ms = (
            0  # the accounting is asked for jobs that came and ended unseen from health.unsettled_ms to here
        )
        self.ask_ms = 0  # when it is asked again
        self.confirming = Confirming(connector, mirror)
        self.detailed: set[tuple[str, int]] = set()  # (key, start) of attempts that were asked for
        self.numbers = Numbers(mirror) if bordered and connector.numbers_jobs else None
        self.after: dict[tuple[str, int], JobFact] = {}  # jobs of the next run, once the cluster has begun again

    def resume(self, before: Mapping[str, Any]) -> None:
        """Continuation from the health that an earlier process wrote; a long time since its last poll becomes a gap."""
        known = {one.name for one in fields(Health)}
        self.health = Health(**{name: value for name, value in before.items() if name in known})
        if self.health.seen_ms is not None:
            self.mirror.at_ms = max(self.mirror.at_ms, self.health.seen_ms)
        if self.health.failing_since is None and time.time() - (self.health.last_look_at or time.time()) > MAX_UNSEEN_S:
            self.unseen = "the cluster was not followed: it was paused, or no follower was running"

    def current_health(self) -> Health:
        """The health with its lags and counts, which are computed only here."""
        self.health.lag, self.health.counts = self.lags.summary() or self.health.lag, counts(self.mirror)
        self.health.not_up, self.health.unfit = not_up(self.mirror), unfit(self.mirror)
        if (contact := self.connector.contact()) is not None:
            self.health.contact_at, self.health.event_ms = contact.at_ms / 1000, contact.event_ms
        if self.sampling is not None:
            self.health.samples = asdict(self.sampling.health)
        return self.health

    def run(self) -> None:
        """Following until it is stopped."""
        failures = 0
        while not self.stopped(0):
            try:
                self.apply(self.connector.snapshot())
                failures = 0
                self._follow_changes()
            except ConnectorError as error:
                self._failed(str(error))
                wait_s = RETRY_S[min(failures, len(RETRY_S) - 1)]
                failures += 1
                if self.stopped(wait_s * random.uniform(0.8, 1.2)):  # several followers do not come back at once
                    return

    def _follow_changes(self) -> None:
        changes = self.connector.changes()
        if changes is None:
            while not self.stopped(self.interval_s):
                self.apply(self.connector.snapshot())
            return
        with closing(_as_generator(changes)) as snapshots:
            for snapshot in snapshots:
                self.apply(snapshot)
                if self.stopped(0):
                    return

    def apply(self, snapshot: Snapshot) -> None:
        """Events of one snapshot, which are written; information that it lacks is requested first."""
        if not snapshot.complete and not snapshot.partial:
            raise ConnectorError(snapshot.why or "the answer of the cluster is not complete")
        self.polled(snapshot)
        began = time.monotonic()
        settled = self.applied and self.health.failing_since is None
        snapshot = self._with_ends(self._before(snapshot))
        if not settled and not snapshot.partial and self.mirror.at_ms:  # what ended before a run is no part of its log
            self.health.unsettled_ms = self.health.unsettled_ms or self.mirror.at_ms
            self.until_ms = self.ask_ms = snapshot.at_ms
        if self.health.unsettled_ms is not None and not snapshot.partial and snapshot.at_ms >= self.ask_ms:
            snapshot = self._before(self._with_unseen(snapshot, self.health.unsettled_ms))
        events = self._back(snapshot)
        events += self.mirror.apply(snapshot, self.awaited.keys())
        self._write(events)
        if settled and events:  # what the first poll finds, and the first one after a gap, had happened long before
            took_ms = sum(snapshot.calls.values()) + round((time.monotonic() - began) * 1000)
            self.lags.add(self.mirror, events, snapshot.at_ms + took_ms)
        self._detail()
        self.health.last_look_at, self.health.seen_ms = time.time(), snapshot.at_ms
        self.health.looks, self.applied = self.health.looks + 1, True
        if not snapshot.partial:
            self._write(self.confirming.events(snapshot.at_ms))
            self.health.note = snapshot.why
        self.health.call_ms = dict(snapshot.calls) or self.health.call_ms
        self.health.clock_offset_ms = snapshot.at_ms - round(self.health.last_look_at * 1000)
        self._cost()
        if self.sampling is not None:
            self._write(self.sampling.exchange(self.mirror))

    def _cost(self) -> None:
        """Cost of following, read at intervals; clusters that do not report it are followed as well."""
        if not self.costs.due(time.monotonic()):
            return
        try:
            self.health.cost = self.costs.add(self.connector.cost(), time.monotonic()) or self.health.cost
        except ConnectorError as error:
            log.info("the cost of following is unknown: %s", error)

    def _before(self, snapshot: Snapshot) -> Snapshot:
        """Snapshot without jobs numbered from 1 again after a loss of state; they are kept for the next run."""
        fresh = self.numbers.begun_again(snapshot) if self.numbers is not None and not snapshot.partial else ()
        if not fresh:
            return snapshot
        self.after |= {(fact.key, fact.submitted_ms): fact for fact in fresh}
        ids = {id(fact) for fact in fresh}
        return replace(snapshot, jobs=tuple(fact for fact in snapshot.jobs if id(fact) not in ids))

    def _with_ends(self, snapshot: Snapshot) -> Snapshot:
        """Snapshot with what the accounting says of jobs no longer shown; of many at once only at the second poll.

        Jobs of which it has no record stay open until it is asked again, once its records are settled.
        """
        if snapshot.partial:
            return snapshot
        missing = self.mirror.missing(snapshot)
        if len(missing) - len(self.awaited) > MIN_LOST and 2 * len(missing) > len(self.mirror.open):
            again = self.connector.snapshot()
            if not again.complete:
                raise ConnectorError(again.why or "the answer of the cluster is not complete")
            snapshot = self._before(again)
            missing = self.mirror.missing(snapshot)
        since = {index: self.awaited.get(index, snapshot.at_ms) for index in missing}
        settled_ms = 0 if self.after else self.connector.settled_ms
        over = {index for index in missing if snapshot.at_ms - since[index] >= settled_ms}
        asked = {
            self.mirror.jobs[index].fact.key: index for index in missing if index not in self.awaited or index in over
        }
        self.awaited = {index: at_ms for index, at_ms in since.items() if index not in over}
        if not asked:
            return snapshot
        ended = self._ends_of(asked, over, snapshot.at_ms)
        for key in asked if ended is None else {fact.key for fact in ended}:
            self.awaited.pop(asked[key], None)
        return replace(snapshot, jobs=(*snapshot.jobs, *(ended or ())))

    def _with_unseen(self, snapshot: Snapshot, since_ms: int) -> Snapshot:
        """Snapshot with the jobs that came and ended while nobody polled, and that the queue has forgotten.

        The accounting is asked until its records of that interval are settled.
        """
        shown, waited_ms = {fact.key for fact in snapshot.jobs}, snapshot.at_ms - self.until_ms
        try:
            ended = [
                fact for fact in self.connector.history(since_ms, self.until_ms)
                if fact.state == ENDED and fact.key not in shown and not self.mirror.has_ended(fact)
                and not self.mirror.is_behind(fact)
            ]  # fmt: skip
        except ConnectorError as error:
            log.warning("jobs that ended while the cluster was not followed are unknown: %s", error)
            self.ask_ms = snapshot.at_ms + max(self.connector.settled_ms, min(waited_ms, MAX_ASK_MS))
            return snapshot
        if waited_ms >= self.connector.settled_ms:
            self.health.unsettled_ms = None
        self.ask_ms = snapshot.at_ms + self.connector.settled_ms
        return replace(snapshot, jobs=(*snapshot.jobs, *ended))

    def _ends_of(self, asked: Mapping[str, int], over: set[int], until_ms: int) -> list[JobFact] | None:
        """The ends of jobs, {key: index}, by the accounting; None where it does not answer.

        A failed attempt is an end only when the time until a record of the next one is over.
        """
        since_ms = min(self.mirror.jobs[index].seen_ms for index in asked.values())
        try:
            return [
                fact for fact in self.connector.history(since_ms, until_ms)
                if fact.key in asked and fact.state == ENDED and not self.mirror.is_behind(fact)
                and (fact.outcome not in QUEUED_AGAIN or asked[fact.key] in over)
            ]  # fmt: skip
        except ConnectorError as error:
            self.health.error = str(error)  # recorded as ended unseen
            return None

    def catch_up(self, since_ms: int) -> None:
        """Another reading of the accounting for all that ended since then, so that unseen ends become exact."""
        facts = [fact for fact in self.connector.history(since_ms, self.mirror.at_ms) if fact.key in self.mirror.newest]
        self._write(self.mirror.accounted(facts))

    def _detail(self) -> None:
        bare = self.mirror.undetailed()
        keys = [key for key, started_ms in bare if (key, started_ms) not in self.detailed]
        for first in range(0, len(keys), MAX_DETAILS):
            self._write(self.mirror.restate(self.connector.details(keys[first : first + MAX_DETAILS])))
        self.detailed = set(bare)

    def _write(self, events: list[EventData]) -> None:
        if events:
            self.write(events, self.mirror.log_ms)

    def _failed(self, error: str) -> None:
        if self.health.failing_since is None:
            self.health.failing_since = time.time()
        self.health.error = error

    def _back(self, snapshot: Snapshot) -> list[EventData]:
        """The interval without a poll, once there is one again."""
        reason = self.health.error if self.health.failing_since is not None else self.unseen
        if self._is_first():
            reason = NOT_YET_FOLLOWED
        elif self.health.failing_since is None and not reason:
            return []
        since_ms = max(0, self.mirror.at_ms - self.mirror.epoch_ms)
        to_ms = max(since_ms, snapshot.at_ms - self.mirror.epoch_ms)
        gap = {"from_ms": since_ms, "to_ms": to_ms, "reason": reason}
        self.mirror.log_ms = max(self.mirror.log_ms, to_ms)
        self.health.failing_since, self.health.error, self.unseen = None, "", ""
        return [("gap", gap)] if to_ms > since_ms else []

    def _is_first(self) -> bool:
        """True if nothing of the cluster has been seen yet, in this run or in the one before."""
        known = self.mirror.nodes or self.mirror.jobs or self.mirror.since_ms
        return not known and self.mirror.at_ms <= self.mirror.epoch_ms


def _as_generator(snapshots: Iterator[Snapshot]) -> Generator[Snapshot]:
    """A generator of the snapshots, which `closing` can end, whatever kind of iterator the connector gives."""
    yield from snapshots
