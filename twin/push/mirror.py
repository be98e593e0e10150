"""Mirror of a source in memory: the events of all open jobs and nodes, kept up with the rows of the database."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from twin.connectors.facts import DRAINED, DRAINING, ENDED, RUNNING, SUSPENDED, JobFact, NodeFact
from twin.models import PushSource
from twin.push import fold, storage
from twin.push.events import JOB, MAX_AHEAD_MS, NODE, ReadFact

KEPT_ENDED_MS = 3_600_000  # time for which ended jobs stay in snapshots after their last event came
MAX_ROWS = 5_000  # per poll


class Mirror:
    """Events by key, as far as sequence number `seq`."""

    def __init__(self, source: PushSource, now_ms: int) -> None:
        self.source = source
        # before the rows are read: one that comes meanwhile is read again, to no effect
        self.seq = storage.cursor(source.name)
        self.snapshots = storage.snapshot_times(source.pk)
        self.events: dict[str, dict[bytes, ReadFact]] = {}  # {key: {digest: event}}
        self.touched: dict[str, int] = {}  # {key: when an event of it came last}
        self.newest_ms = 0  # time of the newest event
        self.stays: dict[str, dict[str, int | None]] = {}  # {key of a job: {node: end of its last execution there}}
        self.jobs_on: dict[str, dict[str, int | None]] = defaultdict(dict)  # the same by node; None: it has not ended
        self.left_ms: dict[str, int] = {}  # {node: last end of an execution of the jobs that were forgotten}
        self.all_ends_ms = now_ms - KEPT_ENDED_MS + MAX_AHEAD_MS  # all executions that ended since are loaded
        self.draining: set[str] = set()  # nodes whose events say draining, as of the last `nodes()`
        self.settled = True  # False if an execution on one of them has begun or ended since
        self._load(storage.open_keys(source.pk, now_ms - KEPT_ENDED_MS), now_ms)
        self._count(self.events)

    def advance(self, now_ms: int) -> tuple[set[str], bool]:
        """(keys with new events, whether a snapshot has ended) since the last call, up to MAX_ROWS rows."""
        reach = storage.cursor(self.source.name)
        if reach == self.seq:
            return set(), False
        rows = storage.after(self.source.pk, self.seq, MAX_ROWS)
        snapshots = storage.snapshot_times(self.source.pk)
        complete, self.snapshots = snapshots != self.snapshots, snapshots
        new = {key for _, key, _ in rows}
        self._load([key for key in new if key not in self.events], now_ms)
        for _, key, event in rows:
            self.events[key][event.digest] = event
            self.touched[key] = now_ms
            self.newest_ms = max(self.newest_ms, event.at_ms)
        last, *_ = rows[-1] if rows else (0,)
        self.seq = last if len(rows) == MAX_ROWS else max(reach, last)
        self._count(self.events if complete else new)
        return new, complete

    def jobs(self, keys: Iterable[str]) -> list[JobFact]:
        """The jobs with these keys in the order of submission; those submitted at the same time by their numbers."""
        found = [
            job
            for key in keys
            if key[0] == JOB
            for job in fold.jobs(key[1:], self.events[key].values(), self.snapshots["jobs"])
        ]
        return sorted(found, key=lambda job: (job.submitted_ms, _in_numbers(job.key)))

    def nodes(self) -> list[NodeFact]:
        """All nodes of the cluster; a draining one counts as drained once no job is on it."""
        keys = [key for key in self.events if key[0] == NODE]
        found = (fold.node(key[1:], self.events[key].values(), self.snapshots["nodes"]) for key in keys)
        nodes = [node for node in found if node is not None]
        self.draining, self.settled = {node.name for node in nodes if node.state == DRAINING}, True
        return [self._settled(node) for node in nodes]

    def _settled(self, node: NodeFact) -> NodeFact:
        """The node; drained if it is draining and no job is on it."""
        if node.state != DRAINING or None in self.jobs_on[node.name].values():
            return node
        return replace(node, state=DRAINED, since_ms=self._empty_since(node))

    def _empty_since(self, node: NodeFact) -> int | None:
        """Time since which a draining node has been empty, at the earliest that of the drain; None if not known."""
        ends = [end_ms for end_ms in self.jobs_on[node.name].values() if end_ms is not None]
        if node.name in self.left_ms:
            ends.append(self.left_ms[node.name])
        if node.since_ms is None or (not ends and node.since_ms < self.all_ends_ms):
            return None
        return max([node.since_ms, *ends])

    def _count(self, keys: Iterable[str]) -> None:
        """Update of the jobs on each node, after new events of these keys."""
        for key in keys:
            if key[0] != JOB:
                continue
            now = _stays(fold.jobs(key[1:], self.events[key].values(), self.snapshots["jobs"]))
            before = self._remove_stays(key)
            changed = {node for node, _ in before.items() ^ now.items()}
            self.settled = self.settled and not changed & self.draining
            for node, end_ms in now.items():
                self.jobs_on[node][key] = end_ms
            if now:
                self.stays[key] = now

    def _remove_stays(self, key: str) -> dict[str, int | None]:
        """Removal of a job from the nodes; what they had of it."""
        stays = self.stays.pop(key, {})
        for node in stays:
            del self.jobs_on[node][key]
        return stays

    def forget_ended(self, now_ms: int) -> None:
        """Removal of jobs that ended a while ago; a late event loads them again."""
        old = [key for key, came_ms in self.touched.items() if key[0] == JOB and came_ms < now_ms - KEPT_ENDED_MS]
        for key in old:
            if all(job.state == ENDED for job in self.jobs([key])):
                del self.events[key], self.touched[key]
                for node, end_ms in self._remove_stays(key).items():
                    self.left_ms[node] = max(self.left_ms.get(node, 0), end_ms or 0)

    def _load(self, keys: list[str], now_ms: int) -> None:
        for key, events in storage.of_keys(self.source.pk, keys).items():
            self.events[key] = {event.digest: event for event in events}
            self.touched[key] = now_ms
            self.newest_ms = max(self.newest_ms, *(event.at_ms for event in events), 0)


def _stays(jobs: Iterable[JobFact]) -> dict[str, int | None]:
    """{node: end of the last execution of these jobs there, None if it has not ended}"""
    stays: dict[str, int | None] = {}
    for job in jobs:
        for attempt in job.attempts:
            runs = job.state in (RUNNING, SUSPENDED) and attempt is job.attempts[-1]
            for share in attempt.shares:
                end_ms = stays.get(share.node, 0)
                if runs or end_ms is None:
                    stays[share.node] = None
                elif attempt.ended_ms is not None:
                    stays[share.node] = max(end_ms, attempt.ended_ms)
    return stays


def _in_numbers(key: str) -> list[tuple[int, str]]:
    """Order in which “job-2” comes before “job-10”."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]{1,18})", key)]
