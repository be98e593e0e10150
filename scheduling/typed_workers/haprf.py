"""Workers of one type under HAPRF, highest average processing rate first (A_online, Section IV-C), all at once.

A chunk of job j has the key D_j p_j, the inverse of its rate: of the chunks that have arrived at a worker, the one with
the least key runs, of equal keys the one dispatched first. Workers never idle while a chunk is there, so until another
chunk is dispatched the whole future of a worker is known. It is kept as bars in padded matrices [worker, place]: the
state at the arrival of a new chunk is one masked sum, time passes without work, and only the workers that get a chunk
are simulated again.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

NEVER = 1 << 60  # ms
SCALE = 1_000  # costs are compared in whole 1/1000 ms, so that ties are ties however the sums were made
_WIDTH = 8  # places of a worker at first
Away = Sequence[tuple[int, int]]


class Quotes(NamedTuple):
    """Costs of one more chunk on each worker, in the terms of Eq. (5)."""

    total: np.ndarray  # [worker] D Q in 1/1000 ms
    ahead_ms: np.ndarray  # [worker] work that runs before it
    behind: np.ndarray  # [worker] sum of 1 / D' over the chunks that it would postpone


class Bars(NamedTuple):
    """Columns of bars of chunks."""

    row: np.ndarray  # worker of the shard
    start_ms: np.ndarray
    end_ms: np.ndarray
    job: np.ndarray
    chunk: np.ndarray
    last: np.ndarray  # whether the chunk is done at its end


class Shard:
    """Workers that serve one type of jobs. away: the outages of each worker's server; None without outages."""

    def __init__(self, count: int, away: Sequence[Away] | None = None) -> None:
        self.away = {row: list(gone) for row, gone in enumerate(away) if gone} if away is not None else {}
        self.width = 0  # places in use
        shape = (count, _WIDTH)
        self.start, self.end, self.key, self.job, self.order, self.chunk, self.arrive = (
            np.zeros(shape, np.int64) for _ in range(7)
        )
        self.weight = np.zeros(shape)  # 1 / D where the bar is the last of its chunk, else 0

    COLUMNS = ("start", "end", "key", "job", "order", "chunk", "arrive", "weight")

    def quote(self, arrive_ms: np.ndarray, upload_ms: np.ndarray, key: int, work_ms: int) -> Quotes:
        """Costs (Eq. 5 times D) for a chunk at worker w at arrive_ms[w]. An outage changes what is left only."""
        end, ahead = self.end[:, : self.width], self.key[:, : self.width] <= key
        there = arrive_ms[:, None]
        left = np.maximum(end - np.maximum(self.start[:, : self.width], there), 0)
        ahead_ms = (left * ahead).sum(axis=1)
        behind = (self.weight[:, : self.width] * ((end > there) & ~ahead)).sum(axis=1)
        total = (upload_ms + ahead_ms + work_ms) * SCALE + np.rint(
            np.minimum(behind * (key * float(SCALE)), NEVER)
        ).astype(np.int64)
        return Quotes(total, ahead_ms, behind)

    def insert(
        self, now_ms: int, rows: np.ndarray, chunks: np.ndarray, arrive_ms: np.ndarray, *, job: int, order: int,
        key: int, work_ms: int, weight: float
    ) -> tuple[Bars, list[tuple[int, int]]]:  # fmt: skip
        """Dispatch of chunk chunks[i] to worker rows[i], where it arrives at arrive_ms[i].

        The new futures of these workers, by worker and time; and (job, chunks) of those that the new ones will stop
        halfway.

        order: rises with every job dispatched.
        """
        touched, place = np.unique(rows, return_inverse=True)
        waiting = self._left(now_ms, touched)
        count = len(rows)
        columns = {
            "row": place, "key": np.full(count, key), "order": np.full(count, order), "chunk": chunks,
            "job": np.full(count, job), "arrive": arrive_ms, "left": np.full(count, work_ms),
            "weight": np.full(count, weight),
        }  # fmt: skip
        queue = {name: np.concatenate([waiting[name], column]) for name, column in columns.items()}
        sorting = np.lexsort((queue["chunk"], queue["order"], queue["key"], queue["row"]))
        queue = {name: column[sorting] for name, column in queue.items()}
        item, start, end = self._played(now_ms, touched, queue)
        last = np.zeros(len(item), dtype=bool)
        final = np.zeros(len(queue["row"]), dtype=np.int64)
        final[item] = np.arange(len(item))  # the later assignment wins: bars are in order of time
        last[final] = True
        bars = Bars(touched[queue["row"][item]], start, end, queue["job"][item], queue["chunk"][item], last)
        displaced = self._displaced(now_ms, touched, bars, job)
        self._keep(touched, queue, item, start, end, last)
        return bars, displaced

    def future(self, now_ms: int, jobs: np.ndarray) -> Bars:
        """Bars of these jobs that end after now, in no order."""
        width = self.width
        wanted = np.zeros(int(max(self.job.max(initial=0), jobs.max(initial=0))) + 1, dtype=bool)
        wanted[jobs] = True
        row, place = np.nonzero(wanted[self.job[:, :width]] & (self.end[:, :width] > now_ms))
        return Bars(
            row, np.maximum(self.start[row, place], now_ms), self.end[row, place], self.job[row, place],
            self.chunk[row, place], self.weight[row, place] > 0,
        )  # fmt: skip

    def unfinished(self, now_ms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(worker, job, end) of every chunk that is not done at now_ms."""
        row, place = np.nonzero((self.weight[:, : self.width] > 0) & (self.end[:, : self.width] > now_ms))
        return row, self.job[row, place], self.end[row, place]

    def state(self, now_ms: int) -> dict[str, np.ndarray]:
        """Bars that end after now, as columns; `row` and `place` are their position."""
        row, place = np.nonzero(self.end[:, : self.width] > now_ms)
        return {"row": row, "place": place, **{name: getattr(self, name)[row, place] for name in self.COLUMNS}}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """The inverse of `state`, in a new shard."""
        row, place = state["row"], state["place"]
        self._widen(int(place.max(initial=-1)) + 1)
        for name in self.COLUMNS:
            getattr(self, name)[row, place] = state[name]

    def _left(self, now_ms: int, touched: np.ndarray) -> dict[str, np.ndarray]:
        """Unfinished chunks of these workers, with their remaining work."""
        width = self.width
        end = self.end[touched, :width]
        row, place = np.nonzero(end > now_ms)
        worker_slot = touched[row]
        key, order, chunk = self.key[worker_slot, place], self.order[worker_slot, place], self.chunk[worker_slot, place]
        sorting = np.lexsort((chunk, order, key, row))
        row, place, worker_slot = row[sorting], place[sorting], worker_slot[sorting]
        key, order, chunk = key[sorting], order[sorting], chunk[sorting]
        first = np.ones(len(row), dtype=bool)
        first[1:] = (row[1:] != row[:-1]) | (order[1:] != order[:-1]) | (chunk[1:] != chunk[:-1])
        begins = np.flatnonzero(first)
        spent = self.end[worker_slot, place] - np.maximum(self.start[worker_slot, place], now_ms)
        weight = self.weight[worker_slot, place]
        some = len(begins) > 0
        return {
            "row": row[begins], "key": key[begins], "order": order[begins], "chunk": chunk[begins],
            "job": self.job[worker_slot, place][begins], "arrive": self.arrive[worker_slot, place][begins],
            "left": np.add.reduceat(spent, begins) if some else spent,
            "weight": np.maximum.reduceat(weight, begins) if some else weight,
        }  # fmt: skip

    def _played(
        self, now_ms: int, touched: np.ndarray, queue: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(item of the queue, start, end) of every bar, by worker and time. A pass runs workers to the next arrival."""
        row = queue["row"]
        counts = np.bincount(row, minlength=len(touched))
        place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (len(touched), int(counts.max()))
        left, arrive, item = np.zeros(shape, np.int64), np.full(shape, NEVER), np.zeros(shape, np.int64)
        left[row, place], arrive[row, place], item[row, place] = queue["left"], queue["arrive"], np.arange(len(row))
        clock = np.full(len(touched), now_ms)
        gone = (
            {
                number: self.away[worker_slot]
                for number, worker_slot in enumerate(touched.tolist())
                if worker_slot in self.away
            }
            if self.away
            else {}
        )
        for number, away in gone.items():  # such a worker counts only the time in which its server is available
            arrive[number] = [worked(ms, away) if ms < NEVER else NEVER for ms in arrive[number].tolist()]
            clock[number] = worked(now_ms, away)
        parts: list[tuple[np.ndarray, ...]] = []
        while True:
            pending = left > 0
            here = pending & (arrive <= clock[:, None])
            following = np.where(pending & ~here, arrive, NEVER).min(axis=1)
            work = np.where(here, left, 0)
            begins = np.cumsum(work, axis=1) - work
            served = np.minimum(np.maximum((following - clock)[:, None] - begins, 0), work)
            worker_slot, at = np.nonzero(served)
            start = clock[worker_slot] + begins[worker_slot, at]
            parts.append((worker_slot, item[worker_slot, at], start, start + served[worker_slot, at]))
            if (following == NEVER).all():
                break
            left -= served
            clock = np.where(following < NEVER, following, clock)
        return _merged(*_present(parts, gone)) if gone else _merged(*map(np.concatenate, zip(*parts, strict=True)))

    def _displaced(self, now_ms: int, touched: np.ndarray, bars: Bars, job: int) -> list[tuple[int, int]]:
        """(job, chunks) of the chunks that stop, not done, where one of `job` begins: now, or later by the new plan."""
        begun = (self.start[touched, : self.width] < now_ms) & (self.end[touched, : self.width] > now_ms)
        row, place = np.nonzero(begun)
        at_once = np.isin(touched[row], bars.row[(bars.job == job) & (bars.start_ms == now_ms)])
        later = (
            (bars.job[1:] == job) & (bars.job[:-1] != job) & ~bars.last[:-1] & (bars.row[1:] == bars.row[:-1])
            & (bars.start_ms[1:] == bars.end_ms[:-1])
        )  # fmt: skip
        stopped = np.concatenate([self.job[touched[row], place][at_once], bars.job[:-1][later]])
        found, counts = np.unique(stopped, return_counts=True)
        return list(zip(found.tolist(), counts.tolist(), strict=True))

    def _keep(
        self,
        touched: np.ndarray,
        queue: dict[str, np.ndarray],
        item: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
        last: np.ndarray,
    ) -> None:
        counts = np.bincount(queue["row"][item], minlength=len(touched))
        self._widen(int(counts.max()))
        row = touched[queue["row"][item]]
        place = np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.end[touched] = 0
        self.weight[touched] = 0.0
        self.start[row, place], self.end[row, place] = start, end
        self.weight[row, place] = np.where(last, queue["weight"][item], 0.0)
        for name in ("key", "job", "order", "chunk", "arrive"):
            getattr(self, name)[row, place] = queue[name][item]

    def _widen(self, width: int) -> None:
        if width > self.end.shape[1]:
            more = ((0, 0), (0, max(width, 2 * self.end.shape[1]) - self.end.shape[1]))
            for name in self.COLUMNS:
                setattr(self, name, np.pad(getattr(self, name), more))
        self.width = max(self.width, width)


def choose(total: np.ndarray, work_ms: int, count: int, most: int = NEVER) -> np.ndarray:
    """Worker of each chunk, one after the other where it is cheapest, while that costs at most `most` (1/1000 ms).

    Of equal costs the first worker. One more chunk of the job on a worker makes it dearer by exactly its work:
    the new chunk goes ahead of the next, and nothing else is postponed.
    """
    if not len(total) or count < 1:
        return np.arange(0)
    step = work_ms * SCALE
    near = np.arange(len(total))
    if len(total) > count:
        near = np.flatnonzero(total <= np.partition(total, count - 1)[count - 1])
    near = near[np.argsort(total[near], kind="stable")][:count]
    if len(near) == count and total[near[-1]] < total[near[0]] + step:
        return near[total[near] <= most]
    heap = [(cost, worker_slot) for cost, worker_slot in zip(total[near].tolist(), near.tolist(), strict=True)]
    chosen: list[int] = []
    while len(chosen) < count and heap[0][0] <= most:
        cost, worker_slot = heap[0]
        chosen.append(worker_slot)
        heapq.heapreplace(heap, (cost + step, worker_slot))
    return np.array(chosen, dtype=np.int64)


def worked(ms: int, away: Away) -> int:
    """Part of the time until then in which the worker is available."""
    return ms - sum(min(ms, end) - begin for begin, end in away if begin < ms)


def _present(parts: Sequence[tuple[np.ndarray, ...]], gone: Mapping[int, Away]) -> tuple[np.ndarray, ...]:
    """Bars of workers with outages, converted from available time: split at the outages."""
    rows: list[tuple[int, int, int, int]] = []
    for part in parts:
        for worker_slot, item, start, end in zip(*(column.tolist() for column in part), strict=True):
            shift = 0
            for begin, back in gone.get(worker_slot, ()):
                if start + shift >= begin:
                    shift += back - begin
                elif end + shift > begin:
                    rows.append((worker_slot, item, start + shift, begin))
                    start, shift = begin - shift, shift + back - begin
            if end > start:
                rows.append((worker_slot, item, start + shift, end + shift))
    return tuple(np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def _merged(
    worker_slot: np.ndarray, item: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bars in the order of worker and time; those of a chunk that touch become one."""
    sorting = np.lexsort((start, worker_slot))
    item, start, end = item[sorting], start[sorting], end[sorting]
    first = np.ones(len(item), dtype=bool)
    first[1:] = (item[1:] != item[:-1]) | (start[1:] != end[:-1])
    begins = np.flatnonzero(first)
    ends = np.append(begins[1:], len(item)) - 1
    return item[begins], start[begins], end[ends]
