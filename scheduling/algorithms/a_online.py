"""A_online: preemptive scheduling of typed workers in an edge-cloud network (002, Algorithms 1 to 5, and its Section VI).

On arrival, each chunk of a job goes to the worker where it raises the sum of completion times least (Eq. 5); every worker runs its chunks
highest average processing rate first; a job that runs holds one parameter server. The numbers A1 to A18 are those of the
specification, section 2, which gives the reason for each.

Differs from the paper:
- A3: workers are work-conserving. The paper's plan shifts what is postponed (Algorithm 4, lines 3 to 7), leaves idle holes and collides
  with chunks that are still uploading; with no upload in flight both are the same, otherwise this is never later for a chunk.
- A7: the cloud for the first chunk means the whole job in the cloud, at the rate of one place (zeta = 1); for a later chunk it
  means all that are left, at the other rate. The cloud's cost is constant and the edge's only grow, so that is the greedy result.
- A10: of equal costs, in 1/1000 ms, the edge goes before the cloud and the first worker before others.
- A12: when no parameter server of its type is free, a job takes another one of the edge, and at last one in the cloud.
- Section VI leaves out what happens without a cloud when storage is full: a job is dispatched when all of its chunks fit, in the order of
  arrival, with those that fit going ahead of those that do not; dispatched one by one, chunks that hold storage could block each other.
- Servers that leave: a lane that is not there waits, with its chunks; its absences are known. A server that ever leaves offers no
  parameter servers.
- What lies behind a horizon is not planned; the paper's T is "large enough".
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scheduling import typed
from scheduling.model import CLOUD, NONE, NOTHING, Cluster, Decision, Job, LanePlan, ModelError, Placement, Reason, Role, Verdict
from scheduling.registry import BaseScheduler, Parameters, parameter
from scheduling.solvers.haprf import NEVER, SCALE, Bars, Quotes, Shard, choose
from scheduling.solvers.ps_assignment import Held, PsPool
from scheduling.solvers.spans import union

_WORKER, _PS = int(Role.WORKER), int(Role.PS)
_STORAGE = 3  # position in RESOURCES
_KB = 1_000  # of a MB: storage is counted in whole kB
STORAGE = ("none", "job", "chunk")


@dataclass(frozen=True, slots=True)
class AOnlineParameters(Parameters):
    storage: str = parameter(
        "none", "whether servers run out of storage, and until when a chunk is kept: to the end of its job, or to its own", choices=STORAGE
    )  # fmt: skip
    speed_augmentation: float = parameter(
        0.0, "epsilon: chunks run at 1 + epsilon times their speed, as in the analysis", low=0.0, high=10.0
    )  # fmt: skip


class Lane(NamedTuple):
    """The workers of one type."""

    server: np.ndarray  # [row]
    number: np.ndarray  # [row] lane on its server
    shard: Shard


class AOnline(BaseScheduler):
    """One shard of lanes per type, since jobs only touch workers of their own; parameter servers are shared by all."""

    name = "a_online"
    title = "A_online"
    paper = "Wang et al., Preemptive Scheduling for Distributed Machine Learning Jobs in Edge-Cloud Networks"
    summary = "Sends each data chunk where it raises completion times least, at the edge or to the cloud; faster chunks preempt slower ones."
    needs = typed.PARTS
    limits = ()
    lanes = True
    cloud = True  # whether the cloud may be used, where there is one
    Parameters = AOnlineParameters

    def check(self, cluster: Cluster) -> None:
        """Without a cloud there must be a parameter server for every worker: then a job that runs always gets one (A12)."""
        if self.cloud and cluster.unlimited_cloud:
            return
        workers, ps = len(typed.lanes(cluster, _WORKER).server), len(_steady(cluster).server)
        if ps < workers:
            raise ModelError(
                f"cluster {cluster.name}: without the cloud, {self.title} needs a parameter server for every worker, on servers that never "
                f"leave: {workers} workers and {ps} parameter servers; add parameter servers, or take a_online on a cluster with a cloud"
            )

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.check(cluster)
        if (wrong := typed.check_uploads(cluster, jobs)) is not None:
            raise ModelError(wrong)
        self.speed = 1.0 + self.parameters.speed_augmentation
        self.workers = typed.lanes(cluster, _WORKER)
        self.ps = _steady(cluster)
        self.shards: dict[str | None, Lane] = {}
        self.pool = PsPool(self.ps, int(rng.integers(1 << 62)))
        self.horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else NEVER
        self.dispatched = 0
        self.waiting: list[int] = []  # jobs that storage keeps out, in order of arrival
        self.capacity = np.array([server.capacity[_STORAGE] for server in cluster.servers], dtype=np.int64) * _KB
        self.stored: dict[int, np.ndarray] = {}  # job -> [server] kB that it holds until it is done
        self.spans: dict[int, list[tuple[int, int]]] = {}  # when each job runs from now on
        self.cloud_spans: dict[int, tuple[int, int]] = {}  # the part of it in the cloud, of jobs that are in both
        self.told: dict[int, tuple[int, int]] = {}  # start and finish of each job that is not done, as they were last planned
        self.held: dict[int, Held] = {}  # parameter servers
        self.releases: list[tuple[int, int]] = []  # heap of (end, job) of what is held; stale where `held` says otherwise
        self.starts: list[tuple[int, int]] = []  # heap of (start of a span, job); stale where `spans` says otherwise
        self.changed: set[int] = set()  # jobs that run or rest now, or until when, other than what they hold says
        self.due_ms: int | None = None  # the alarm that was asked for

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        row = self.jobs[job]
        reason = typed.impossible(row) or self._homeless(row)
        if reason is not None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        if now_ms >= self.horizon_ms:
            return NOTHING
        decision = self._dispatch(now_ms, job)
        if decision is not None:
            return decision
        self.waiting.append(job)
        values = {"chunks": row.num_chunks, "chunk_mb": row.chunk_mb, "waiting": len(self.waiting)}
        alarm_ms = self._next_alarm(now_ms)
        return Decision(verdicts=(Verdict(job, "postponed", Reason("storage_full", values)),), alarm_ms=alarm_ms)

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self.told.pop(job, None)
        self.spans.pop(job, None)
        self.cloud_spans.pop(job, None)
        self.pool.activations.pop(job, None)
        if self.stored.pop(job, None) is not None and self.waiting:
            self.due_ms = now_ms
            return Decision(alarm_ms=now_ms)
        return NOTHING

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        """A_ps, after everything else of the instant; and before it, one job that storage had kept out."""
        self.due_ms = now_ms  # a decision from here asks for another alarm at once
        for job in self.waiting:
            decision = self._dispatch(now_ms, job)
            if decision is not None:
                self.waiting.remove(job)
                return decision
        self.due_ms = None
        lanes = self._assign(now_ms)
        alarm_ms = self._next_alarm(now_ms)
        return Decision(lanes=lanes, alarm_ms=alarm_ms) if lanes is not None or alarm_ms is not None else NOTHING

    def state(self) -> dict[str, Any]:
        now_ms = 0  # bars that are over do no harm
        names = sorted(self.shards, key=str)
        held = [(job, NONE if h.lane is None else h.lane, h.end_ms, h.relaxed) for job, h in sorted(self.held.items())]
        return {
            "names": names, "shards": [self.shards[name].shard.state(now_ms) for name in names], "dispatched": self.dispatched,
            "pool": self.pool.seed, "activations": _table(self.pool.activations.items(), 2), "waiting": list(self.waiting),
            "stored": [[job, array] for job, array in sorted(self.stored.items())],
            "spans": _table([(job, *span) for job, spans in sorted(self.spans.items()) for span in spans], 3),
            "cloud_spans": _table([(job, *span) for job, span in sorted(self.cloud_spans.items())], 3),
            "told": _table([(job, *told) for job, told in sorted(self.told.items())], 3), "held": _table(held, 4),
            "changed": sorted(self.changed), "due_ms": self.due_ms,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        for name, saved in zip(state["names"], state["shards"], strict=True):
            self._lane(name).shard.restore(saved)
        self.dispatched = state["dispatched"]
        self.pool = PsPool(self.ps, state["pool"])
        self.pool.activations = dict(state["activations"].tolist())
        self.waiting = list(state["waiting"])
        self.stored = {int(job): np.asarray(array) for job, array in state["stored"]}
        for job, start_ms, end_ms in state["spans"].tolist():
            self.spans.setdefault(job, []).append((start_ms, end_ms))
        self.cloud_spans = {job: (start_ms, end_ms) for job, start_ms, end_ms in state["cloud_spans"].tolist()}
        self.told = {job: (start_ms, finish_ms) for job, start_ms, finish_ms in state["told"].tolist()}
        for job, lane, end_ms, relaxed in state["held"].tolist():
            self.held[job] = Held(None if lane == NONE else lane, end_ms, bool(relaxed))
            if lane != NONE:
                self.pool.hold(lane)
        self.releases = sorted((held.end_ms, job) for job, held in self.held.items())
        self.starts = sorted((start_ms, job) for job, spans in self.spans.items() for start_ms, _ in spans)
        self.changed, self.due_ms = set(state["changed"]), state["due_ms"]

    def _lane(self, kind: str | None) -> Lane:
        """The lanes that serve jobs of that type."""
        name = self.workers.name(kind)
        if name not in self.shards:
            chosen = self.workers.of(kind)
            server = self.workers.server[chosen]
            away = [self.cluster.servers[s].away for s in server.tolist()]
            self.shards[name] = Lane(server, self.workers.number[chosen], Shard(len(chosen), away if any(away) else None))
        return self.shards[name]

    def _uses_cloud(self, row: Job) -> bool:
        return self.cloud and self.cluster.unlimited_cloud and row.cloud_upload_ms is not None

    def _homeless(self, row: Job) -> Reason | None:
        """Why the job could never be dispatched, even to the empty cluster."""
        if self._uses_cloud(row):
            return None
        lane = self._lane(row.worker_type)
        if not len(lane.server):
            return Reason("no_worker_of_type", {"type": row.worker_type or "", "types": list(self.workers.kinds)})
        size = self._size(row)
        if size:
            most = int((self.capacity[np.unique(lane.server)] // size).sum())
            if most < (row.num_chunks or 0):
                return Reason("storage_too_small", {"chunks": row.num_chunks, "chunk_mb": row.chunk_mb, "most": most})
        return None

    def _size(self, row: Job) -> int:
        """kB of a chunk, where storage counts."""
        return round((row.chunk_mb or 0) * _KB) if self.parameters.storage != "none" else 0

    def _dispatch(self, now_ms: int, job: int) -> Decision | None:
        """A_greedy (Algorithm 2) for one job; None when storage keeps it out."""
        row = self.jobs[job]
        assert row.num_chunks is not None
        lane, times, chunks = self._lane(row.worker_type), typed.chunk_times(row, self.speed), row.num_chunks
        key = chunks * times.apart
        upload = typed.uploads(row, lane.server)
        quotes = lane.shard.quote(now_ms + upload, upload, key, times.apart)
        most = whole = NEVER  # what the cloud costs for a later chunk, and for the first
        if self._uses_cloud(row):
            assert row.cloud_upload_ms is not None
            whole, most = ((row.cloud_upload_ms + ms) * SCALE for ms in (times.together, times.apart))
        chosen = self._chosen(now_ms, row, lane, quotes, times.apart, whole, most)
        if len(chosen) < chunks and not self._uses_cloud(row):
            return None
        order = self.dispatched
        self.dispatched += 1
        if self.parameters.storage == "job" and len(chosen):
            self.stored[job] = np.bincount(lane.server[chosen], minlength=len(self.capacity)) * self._size(row)
        bars: Bars | None = None
        displaced: list[tuple[int, int]] = []
        if len(chosen):
            bars, displaced = lane.shard.insert(
                now_ms, chosen, np.arange(len(chosen)), now_ms + upload[chosen], job=job, order=order, key=key, work_ms=times.apart,
                weight=1.0 / chunks,
            )  # fmt: skip
        cloud = self._in_cloud(now_ms, row, chunks - len(chosen), times.together if not len(chosen) else times.apart)
        cost = _cost(row, quotes, upload, chosen, times, cloud)
        values = {
            "edge": len(chosen), "servers": len(np.unique(lane.server[chosen])), "cloud": chunks - len(chosen), **cost,
            "displaced": [other for other, _ in displaced],
        }  # fmt: skip
        verdicts = [Verdict(job, "admitted", Reason("dispatched", values))]
        for other, count in displaced:
            values = {"by": job, "by_id": row.id, "chunks": count, **cost}
            verdicts.append(Verdict(other, "preempted", Reason("displaced", values)))
        plan = self._planned(now_ms, job, lane, bars, cloud, len(chosen))
        return Decision(verdicts=tuple(verdicts), lanes=plan, alarm_ms=self._next_alarm(now_ms))

    def _chosen(self, now_ms: int, row: Job, lane: Lane, quotes: Quotes, work_ms: int, whole: int, most: int) -> np.ndarray:
        """The lane of each chunk at the edge; those left go to the cloud."""
        assert row.num_chunks is not None
        size = self._size(row)
        if not size:
            if not len(quotes.total) or whole < int(quotes.total.min()):
                return np.arange(0)
            return choose(quotes.total, work_ms, row.num_chunks, most)
        free = (self.capacity - self._used(now_ms)) // size  # chunks that each server has room for
        heap = [(cost, at) for at, cost in enumerate(quotes.total.tolist())]
        heapq.heapify(heap)
        chosen: list[int] = []
        while heap and len(chosen) < row.num_chunks:
            cost, at = heap[0]
            server = lane.server[at]
            if free[server] < 1:
                heapq.heappop(heap)
                continue
            if cost > (most if chosen else whole):
                break
            chosen.append(at)
            free[server] -= 1
            heapq.heapreplace(heap, (cost + work_ms * SCALE, at))
        return np.array(chosen, dtype=np.int64)

    def _used(self, now_ms: int) -> np.ndarray:
        """[server] kB in use."""
        used = np.zeros(len(self.capacity), dtype=np.int64)
        if self.parameters.storage == "job":
            for array in self.stored.values():
                used += array
            return used
        for lane in self.shards.values():
            at, job, _ = lane.shard.unfinished(now_ms)
            if len(job):
                jobs, place = np.unique(job, return_inverse=True)
                sizes = np.array([self._size(self.jobs[j]) for j in jobs.tolist()], dtype=np.int64)
                np.add.at(used, lane.server[at], sizes[place])
        return used

    def _in_cloud(self, now_ms: int, row: Job, count: int, work_ms: int) -> tuple[int, int, int]:
        """(chunks, start, end) of what the job has in the cloud, where all run at once."""
        if not count:
            return 0, 0, 0
        assert row.cloud_upload_ms is not None
        start_ms = now_ms + row.cloud_upload_ms
        return count, start_ms, start_ms + work_ms

    def _planned(
        self, now_ms: int, job: int, lane: Lane, bars: Bars | None, cloud: tuple[int, int, int], at_edge: int
    ) -> LanePlan | None:
        """The new futures of the lanes that got a chunk, and what becomes of the jobs on them."""
        count, begin_ms, finish_ms = cloud
        parts, named = [], []
        if bars is not None:
            server, number = lane.server[bars.row], lane.number[bars.row]
            parts.append(_rows(bars.job, _WORKER, server, bars.start_ms, bars.end_ms, number, bars.chunk))
            touched = np.unique(bars.row)
            named.append(np.stack([np.full(len(touched), _WORKER), lane.server[touched], lane.number[touched]], axis=1))
            future = lane.shard.future(now_ms, np.unique(bars.job))
            jobs, starts, ends = future.job, future.start_ms, future.end_ms
        else:
            jobs = starts = ends = np.arange(0)
        if count:
            chunk = np.arange(at_edge, at_edge + count)
            parts.append(_rows(np.full(count, job), _WORKER, CLOUD, begin_ms, finish_ms, NONE, chunk))
            named.append(np.array([(_WORKER, CLOUD, job)]))
            if bars is not None:
                self.cloud_spans[job] = begin_ms, finish_ms
            else:  # all in one place, the parameter server too
                parts.append(_rows(np.array([job]), _PS, CLOUD, begin_ms, finish_ms, NONE, NONE))
                named.append(np.array([(_PS, CLOUD, job)]))
        changes = self._follow(now_ms, jobs, starts, ends) if bars is not None else []
        if bars is None:
            self.told[job] = begin_ms, finish_ms
            changes = [(job, begin_ms, finish_ms)]
        return self._clipped(np.concatenate(named), np.concatenate(parts), changes) if parts else None

    def _follow(self, now_ms: int, job: np.ndarray, start_ms: np.ndarray, end_ms: np.ndarray) -> list[tuple[int, int, int]]:
        """Notes when these jobs run, and returns (job, start, finish) of those whose start or finish is another one now."""
        extra = [
            (j, *span) for j in np.unique(job).tolist() if (span := self.cloud_spans.get(j)) is not None and span[1] > now_ms
        ]
        if extra:
            more = np.array(extra, dtype=np.int64).T
            job, start_ms, end_ms = (np.concatenate(pair) for pair in zip((job, start_ms, end_ms), more, strict=True))
            start_ms = np.maximum(start_ms, now_ms)
        spans = union(job, start_ms, end_ms)
        changes = []
        begins = np.flatnonzero(np.diff(spans.job, prepend=NONE)).tolist()
        starts, ends = spans.start_ms.tolist(), spans.end_ms.tolist()
        for first, behind in zip(begins, [*begins[1:], len(starts)], strict=True):
            j = int(spans.job[first])
            own = list(zip(starts[first:behind], ends[first:behind], strict=True))
            self.spans[j] = own
            for begin, _ in own:
                if begin > now_ms:
                    heapq.heappush(self.starts, (begin, j))
            held = self.held.get(j)
            if (held.end_ms if held is not None and held.end_ms > now_ms else None) != self._running(now_ms, j):
                self.changed.add(j)
            before = self.told.get(j)
            told = (before[0] if before is not None and before[0] < now_ms else own[0][0]), own[-1][1]
            if told != before:
                self.told[j] = told
                changes.append((j, *told))
        return changes

    def _assign(self, now_ms: int) -> LanePlan | None:
        """Algorithm 5 at this moment: gives back, prolongs, cuts and takes parameter servers."""
        while self.releases and self.releases[0][0] <= now_ms:
            end_ms, job = heapq.heappop(self.releases)
            held = self.held.get(job)
            if held is not None and held.end_ms == end_ms:
                self._give_back(job)
        named: list[tuple[int, int, int]] = []
        bars: list[tuple[int, ...]] = []
        waking = set(self.changed)
        while self.starts and self.starts[0][0] <= now_ms:
            waking.add(heapq.heappop(self.starts)[1])
        until = {job: self._running(now_ms, job) for job in waking}
        for job in sorted(waking):  # first whatever is given back, then whatever is taken
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
                    bars.append((job, *where, now_ms, prolonged))
        for job in sorted(waking):
            runs = until[job]
            if runs is not None and job not in self.held:
                lane, relaxed = self.pool.take(job, self.jobs[job].ps_type)
                held = self.held[job] = Held(lane, runs, relaxed)
                heapq.heappush(self.releases, (runs, job))
                where = self._where(job, held)
                named.append(where)
                bars.append((job, *where, now_ms, runs))
        self.changed.clear()
        if not named:
            return None
        rows = [
            (job, role, server, start, end, 1, NONE if server == CLOUD else lane, NONE, NONE)
            for job, role, server, lane, start, end in bars
        ]
        lanes = np.array(list(dict.fromkeys(named)), dtype=np.int64)
        return self._clipped(lanes, _table(rows, len(Placement._fields)), [])

    def _running(self, now_ms: int, job: int) -> int | None:
        """Until when the job runs without a break; None when it does not run now."""
        for start_ms, end_ms in self.spans.get(job, ()):
            if end_ms > now_ms:
                return end_ms if start_ms <= now_ms else None
        return None

    def _where(self, job: int, held: Held) -> tuple[int, int, int]:
        if held.lane is None:
            return _PS, CLOUD, job
        return _PS, int(self.ps.server[held.lane]), int(self.ps.number[held.lane])

    def _give_back(self, job: int) -> None:
        lane = self.held.pop(job).lane
        if lane is not None:
            self.pool.give(lane)

    def _next_alarm(self, now_ms: int) -> int | None:
        """At once when parameter servers have to change or an alarm is due; else when the next span of a job begins, or storage may come free."""
        if self.changed or self.due_ms == now_ms:
            self.due_ms = now_ms
            return now_ms
        while self.starts:
            start_ms, job = self.starts[0]
            if start_ms >= now_ms and any(begin == start_ms for begin, _ in self.spans.get(job, ())):
                break
            heapq.heappop(self.starts)
        times = [self.starts[0][0]] if self.starts else []
        if self.waiting and self.parameters.storage == "chunk":
            for lane in self.shards.values():
                _, _, ends = lane.shard.unfinished(now_ms)
                if len(ends):
                    times.append(int(ends.min()))
        self.due_ms = min(times, default=None)
        return self.due_ms

    def _clipped(self, lanes: np.ndarray, bars: np.ndarray, jobs: list[tuple[int, int, int]]) -> LanePlan:
        """Without what lies behind the horizon."""
        table = _table(jobs, 3)
        if self.horizon_ms < NEVER:
            bars = bars[bars[:, 3] < self.horizon_ms].copy()
            bars[:, 4] = np.minimum(bars[:, 4], self.horizon_ms)
            table[table[:, 1] >= self.horizon_ms, 1] = NONE
            table[table[:, 2] > self.horizon_ms, 2] = NONE
        return LanePlan(lanes.astype(np.int64), bars, table)


def _steady(cluster: Cluster) -> typed.Lanes:
    """The parameter servers on servers that never leave."""
    return typed.lanes(cluster, _PS, [i for i, server in enumerate(cluster.servers) if not server.away])


def _table(rows: Any, width: int) -> np.ndarray:
    return np.array(list(rows), dtype=np.int64).reshape(-1, width)


def _rows(job: np.ndarray, role: int, server: Any, start_ms: Any, end_ms: Any, lane: Any, chunk: Any) -> np.ndarray:
    """Bars in the order of Placement."""
    out = np.empty((len(job), len(Placement._fields)), dtype=np.int64)
    for place, column in enumerate((job, role, server, start_ms, end_ms, 1, lane, chunk, NONE)):
        out[:, place] = column
    return out


def _cost(
    row: Job, quotes: Quotes, upload: np.ndarray, chosen: np.ndarray, times: typed.Times, cloud: tuple[int, int, int]
) -> dict[str, float]:
    """The sum of Q over the chunks and its four parts (Eq. 5), in ms of the average completion time of the job."""
    assert row.num_chunks is not None
    lanes, counts = np.unique(chosen, return_counts=True)
    work_ms = times.apart
    count, start_ms, end_ms = cloud
    waiting = float((quotes.ahead_ms[lanes] * counts).sum() + work_ms * (counts * (counts - 1) // 2).sum())
    parts = {
        "upload_ms": (float(upload[chosen].sum()) + count * (row.cloud_upload_ms or 0)) / row.num_chunks,
        "waiting_ms": waiting / row.num_chunks,
        "processing_ms": (work_ms * len(chosen) + count * (end_ms - start_ms)) / row.num_chunks,
        "postponed_ms": work_ms * float(quotes.behind[chosen].sum()),
    }
    told = {name: round(ms, 3) for name, ms in parts.items()}
    return {"cost_ms": round(sum(parts.values()), 3), **told}
