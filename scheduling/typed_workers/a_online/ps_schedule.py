"""A_ps over time (A_online, Algorithm 5): when each job runs, and the parameter server that it holds.

Dispatching determines when jobs run; parameter servers are assigned once an instant, after everything else: those that
are no longer needed are released first, then the needed ones are taken.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import CLOUD, NONE, Role
from scheduling.model.spans import union
from scheduling.model.values import Job
from scheduling.typed_workers import workers
from scheduling.typed_workers.a_online.plans import bars, table
from scheduling.typed_workers.ps_assignment import Held, PsPool

_PS = int(Role.PS)
Spans = tuple[list[int], list[int]]  # starts and ends, ascending and disjoint


class Assignment:
    """ps: the parameter servers of the edge. seed: of the draws among them."""

    def __init__(self, ps: workers.WorkerSlots, jobs: Sequence[Job], seed: int) -> None:
        self.ps, self.jobs = ps, jobs
        self.pool = PsPool(ps, seed)
        self.spans: dict[int, Spans] = {}  # when each job runs from now on
        self.cloud_spans: dict[int, tuple[int, int]] = {}  # the part of it in the cloud, of jobs that are in both
        # newest planned start and finish of each open job
        self.planned: dict[int, tuple[int, int]] = {}
        self.held: dict[int, Held] = {}
        # heap of (end, job) of what is held; stale where `held` says otherwise
        self.releases: list[tuple[int, int]] = []
        # heap with (start, job) of the next span of each job; stale where `spans` says otherwise
        self.starts: list[tuple[int, int]] = []
        self.changed: set[int] = (
            set()
        )  # jobs whose running time differs from that of the parameter server that they hold

    def whole_in_cloud(self, job: int, start_ms: int, finish_ms: int) -> list[tuple[int, int, int]]:
        """Registration of a job that is wholly in the cloud: no parameter server has to be assigned."""
        self.planned[job] = start_ms, finish_ms
        return [(job, start_ms, finish_ms)]

    def partly_in_cloud(self, job: int, start_ms: int, end_ms: int) -> None:
        """Registration of a job that is partly in the cloud, before `follow`."""
        self.cloud_spans[job] = start_ms, end_ms

    def follow(
        self, now_ms: int, job: np.ndarray, start_ms: np.ndarray, end_ms: np.ndarray
    ) -> list[tuple[int, int, int]]:
        """Registration of the bars of jobs from now on; the changed (job, start, finish)."""
        extra = [
            (j, *span)
            for j in np.unique(job).tolist()
            if (span := self.cloud_spans.get(j)) is not None and span[1] > now_ms
        ]
        if extra:
            more = np.array(extra, dtype=np.int64).T
            job, start_ms, end_ms = (np.concatenate(pair) for pair in zip((job, start_ms, end_ms), more, strict=True))
            start_ms = np.maximum(start_ms, now_ms)
        spans = union(job, start_ms, end_ms)
        changes = []
        begins = np.flatnonzero(np.diff(spans.job, prepend=NONE))
        starts, ends = spans.start_ms.tolist(), spans.end_ms.tolist()
        for j, first, behind in zip(
            spans.job[begins].tolist(), begins.tolist(), [*begins[1:].tolist(), len(starts)], strict=True
        ):
            self.spans[j] = starts[first:behind], ends[first:behind]
            self._wake(now_ms, j)
            held = self.held.get(j)
            if (held.end_ms if held is not None and held.end_ms > now_ms else None) != self._running(now_ms, j):
                self.changed.add(j)
            before = self.planned.get(j)
            planned = (before[0] if before is not None and before[0] < now_ms else starts[first]), ends[behind - 1]
            if planned != before:
                self.planned[j] = planned
                changes.append((j, *planned))
        return changes

    def settle(self, now_ms: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Releases, extensions, cuts and new bars: workers whose future changes, with bars; None if none."""
        while self.releases and self.releases[0][0] <= now_ms:
            end_ms, job = heapq.heappop(self.releases)
            held = self.held.get(job)
            if held is not None and held.end_ms == end_ms:
                self._give_back(job)
        named: list[tuple[int, int, int]] = []
        rows: list[tuple[int, ...]] = []
        waking = set(self.changed)
        while self.starts and self.starts[0][0] <= now_ms:
            job = heapq.heappop(self.starts)[1]
            waking.add(job)
            self._wake(now_ms, job)
        until = {job: self._running(now_ms, job) for job in waking}
        for job in sorted(waking):  # releases first, then assignments
            held = self.held.get(job)
            if held is not None and until[job] != held.end_ms:
                where = self._where(job, held)
                named.append(where)
                prolonged = until[job]
                if prolonged is None:
                    self._give_back(job)
                else:
                    self.held[job] = held._replace(end_ms=prolonged)
                    heapq.heappush(self.releases, (prolonged, job))
                    rows.append((job, *where, prolonged))
        for job in sorted(waking):
            runs = until[job]
            if runs is not None and job not in self.held:
                worker_slot, relaxed = self.pool.take(job, self.jobs[job].ps_type)
                held = self.held[job] = Held(worker_slot, runs, relaxed)
                heapq.heappush(self.releases, (runs, job))
                where = self._where(job, held)
                named.append(where)
                rows.append((job, *where, runs))
        self.changed.clear()
        if not named:
            return None
        job_of, _, server, slot_of, end = table(rows, 5).T
        return table(dict.fromkeys(named), 3), bars(
            job_of, _PS, server, now_ms, end, np.where(server == CLOUD, NONE, slot_of), NONE
        )

    def next_start(self, now_ms: int) -> int | None:
        """Start of the next span of a job."""
        while self.starts:
            start_ms, job = self.starts[0]
            if start_ms >= now_ms and start_ms in self.spans.get(job, ((), ()))[0]:
                return start_ms
            heapq.heappop(self.starts)
        return None

    def forget(self, job: int) -> None:
        """Removal of a completed job."""
        self.planned.pop(job, None)
        self.spans.pop(job, None)
        self.cloud_spans.pop(job, None)
        self.pool.activations.pop(job, None)

    def state(self) -> dict[str, Any]:
        """Plain numbers and arrays."""
        held = [
            (job, NONE if h.worker_slot is None else h.worker_slot, h.end_ms, h.relaxed)
            for job, h in sorted(self.held.items())
        ]
        spans = [(job, *span) for job, both in sorted(self.spans.items()) for span in zip(*both, strict=True)]
        return {  # "told": the planned times, by the name that they have in stored checkpoints
            "pool": self.pool.seed, "activations": table(self.pool.activations.items(), 2), "spans": table(spans, 3),
            "cloud_spans": table([(job, *span) for job, span in sorted(self.cloud_spans.items())], 3),
            "told": table([(job, *times) for job, times in sorted(self.planned.items())], 3), "held": table(held, 4),
            "changed": sorted(self.changed),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`, in a new schedule."""
        self.pool = PsPool(self.ps, state["pool"])
        self.pool.activations = dict(state["activations"].tolist())
        for job, start_ms, end_ms in state["spans"].tolist():
            starts, ends = self.spans.setdefault(job, ([], []))
            starts.append(start_ms)
            ends.append(end_ms)
        self.cloud_spans = {job: (start_ms, end_ms) for job, start_ms, end_ms in state["cloud_spans"].tolist()}
        self.planned = {job: (start_ms, finish_ms) for job, start_ms, finish_ms in state["told"].tolist()}
        for job, worker_slot, end_ms, relaxed in state["held"].tolist():
            self.held[job] = Held(None if worker_slot == NONE else worker_slot, end_ms, bool(relaxed))
            if worker_slot != NONE:
                self.pool.hold(worker_slot)
        self.releases = sorted((held.end_ms, job) for job, held in self.held.items())
        self.starts = sorted((start_ms, job) for job, (starts, _) in self.spans.items() for start_ms in starts)
        self.changed = set(state["changed"])

    def _wake(self, now_ms: int, job: int) -> None:
        """Agenda entry of the next span of a job only, since later ones are often planned again before they begin."""
        starts, _ = self.spans.get(job, ((), ()))
        behind = bisect_right(starts, now_ms)
        if behind < len(starts):
            heapq.heappush(self.starts, (starts[behind], job))

    def _running(self, now_ms: int, job: int) -> int | None:
        """End of the current span of the job; None if it does not run now."""
        starts, ends = self.spans.get(job, ((), ()))
        place = bisect_right(starts, now_ms) - 1
        return ends[place] if place >= 0 and ends[place] > now_ms else None

    def _where(self, job: int, held: Held) -> tuple[int, int, int]:
        if held.worker_slot is None:
            return _PS, CLOUD, job
        return _PS, int(self.ps.server[held.worker_slot]), int(self.ps.number[held.worker_slot])

    def _give_back(self, job: int) -> None:
        worker_slot = self.held.pop(job).worker_slot
        if worker_slot is not None:
            self.pool.give(worker_slot)
