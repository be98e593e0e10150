"""Subtasks of a group, one by one (Harmony Section IV-A, Fig. 5b and 7).

All machines of a group run in step, so a group has one CPU track and one network track. Each serves one subtask at a
time, first come first served. A job goes PULL, COMP, PUSH; PULL and PUSH each take half of the communication. It may
begin iteration k once every job of its group has finished iteration k - 2; with a strict barrier Eq. (1) would be 15 %
off.

Ours: a job's PULL follows its own PUSH without going to the end of the queue, as one subtask of communication (the
paper's COMM). Then a group takes exactly the time of Eq. (1). In the released code a PULL goes to the end of the queue,
and Eq. (1) is more than 5 % off in 8 % of random groups and in up to a fifth of those of two or three jobs that nearly
bind two resources; `chained` = False shows that.

Section IV-A also runs a secondary network subtask, because a primary one leaves the network partly idle while it waits
for the servers, and the secondary one yields. `secondary` is that idle share: the next subtask of the queue proceeds at
this rate beside the primary one, and becomes the primary one when that ends. The paper does not state the share, and
Eq. (1), on which groups and completion times are based, ignores it; the default is 0.

`window` is a pure function of its arguments, lazily computed: the pattern of a group repeats, so what lies before the
window is skipped in whole periods. Inside, times are integer microseconds, so that a repetition is exact.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

PULL, COMP, PUSH = 0, 1, 2
SUBTASK_TYPES = ("PULL", "COMP", "PUSH")
TRACKS = ("cpu", "net")
LEAD = 1  # iterations by which a job may be ahead of the slowest
MAX_BARS = 20_000


class Subtask(NamedTuple):
    """Bar of a subtask: job is a position in the group; times in ms, fractional."""

    job: int
    kind: int
    iteration: int
    start_ms: float
    end_ms: float
    secondary: bool = False  # started beside a primary network subtask


class Idle(NamedTuple):
    """Idle interval of a track; the cause is the term of Eq. (1) that binds the iteration."""

    track: str
    start_ms: float
    end_ms: float
    cause: str


def window(
    comp_ms: Sequence[float], comm_ms: Sequence[float], begin_ms: float, from_ms: float, to_ms: float, *,
    lead: int = LEAD, most: int = MAX_BARS, secondary: float = 0.0,
) -> list[Subtask]:  # fmt: skip
    """The subtasks of a group that began at begin_ms which touch [from_ms, to_ms), by start; at most `most` of them.

    comp_ms, comm_ms: of each job in this group, in one iteration. secondary: share of the network that a primary
    subtask leaves to a secondary one, from 0 to below 1.
    """
    out: list[Subtask] = []
    # a bar that begins earlier by this time is over: a secondary one lasts as long as the primary one and itself
    longest = max(*comp_ms, *comm_ms) * (2 if secondary else 1)
    skip_to = _micro(from_ms - begin_ms - longest) - 1
    for bar in _run(comp_ms, comm_ms, lead, skip_to=skip_to, secondary=secondary):
        start, end = begin_ms + bar.start_ms / 1000, begin_ms + bar.end_ms / 1000
        if start >= to_ms or len(out) == most:
            break
        if end > from_ms:
            out.append(bar._replace(start_ms=start, end_ms=end))
    return out


def of_group(
    data: Mapping[str, Any], grouped_ms: int, from_ms: float, to_ms: float, *, most: int = MAX_BARS
) -> list[Subtask]:
    """Subtasks of a group from its `grouped` event at grouped_ms; none where jobs contend.

    A job that moves joins when it is ready, and the group restarts with it. What memory adds to an iteration
    stretches all its subtasks.
    """
    if data["iteration_ms"] is None:
        return []
    stretch = [pace / data["iteration_ms"] for pace in data["pace_ms"]]
    comp_ms, comm_ms = ([ms * s for ms, s in zip(data[key], stretch, strict=True)] for key in ("comp_ms", "comm_ms"))
    ready = [max(grouped_ms, ms) for ms in data["ready_ms"]]
    begins = sorted(set(ready))
    out: list[Subtask] = []
    for begin, end in zip(begins, [*begins[1:], float("inf")], strict=True):
        if end <= from_ms or begin >= to_ms:
            continue
        there = [place for place, ms in enumerate(ready) if ms <= begin]
        comp, comm = [comp_ms[place] for place in there], [comm_ms[place] for place in there]
        for bar in window(comp, comm, begin, max(from_ms, begin), min(to_ms, end), most=most - len(out)):
            out.append(bar._replace(job=there[bar.job], end_ms=min(bar.end_ms, end)))
    return out


def idle(bars: Sequence[Subtask], from_ms: float, to_ms: float, cause: str) -> list[Idle]:
    """Idle intervals of the resource tracks in a window."""
    out = []
    for track, kinds in zip(TRACKS, ((COMP,), (PULL, PUSH)), strict=True):
        reached = from_ms
        for bar in (bar for bar in bars if bar.kind in kinds):
            if bar.start_ms > reached + 1e-3:
                out.append(Idle(track, reached, min(bar.start_ms, to_ms), cause))
            reached = max(reached, bar.end_ms)
        if reached < to_ms - 1e-3:
            out.append(Idle(track, reached, to_ms, cause))
    return out


def mean_iteration_ms(
    comp_ms: Sequence[float], comm_ms: Sequence[float], iterations: int = 60, lead: int = LEAD, chained: bool = True,
    secondary: float = 0.0,
) -> float:  # fmt: skip
    """Time of one iteration of a group, from the second half of n iterations: the value that Eq. (1) predicts."""
    ends: dict[int, int] = {}
    left, half = len(comp_ms), iterations // 2
    for bar in _run(comp_ms, comm_ms, lead, chained, secondary=secondary):
        if bar.kind == PUSH:
            ends[bar.iteration] = max(ends.get(bar.iteration, 0), int(bar.end_ms))
            left -= bar.iteration == iterations
        if not left:
            break
    return (ends[iterations] - ends[half]) / (iterations - half) / 1000


def _run(
    comp_ms: Sequence[float], comm_ms: Sequence[float], lead: int, chained: bool = True, skip_to: int = 0,
    secondary: float = 0.0,
) -> Iterator[Subtask]:  # fmt: skip
    """Subtasks in the order of their starts, in microseconds from the start of the group.

    Those well before `skip_to` may be missing.
    """
    lengths = [
        (_micro(n / 2), max(1, _micro(c)), _micro(n) - _micro(n / 2)) for c, n in zip(comp_ms, comm_ms, strict=True)
    ]
    order = sorted(range(len(lengths)), key=lambda j: (-comp_ms[j] - comm_ms[j], j))
    state = _Tracks(lengths, order, lead, chained, secondary)
    seen: dict[tuple[int, ...], tuple[int, int]] = {}
    slowest = 0
    while True:
        yield from state.step()
        if min(state.finished) > slowest and state.now < skip_to:
            slowest = min(state.finished)
            mark = state.signature()
            if mark in seen:
                before, iteration = seen[mark]
                period, turns = state.now - before, slowest - iteration
                state.leap((skip_to - state.now) // period, period, turns)
                slowest = min(state.finished)
                seen.clear()
            else:
                seen[mark] = (state.now, slowest)


class _Tracks:
    """Two servers with queues, and what is left of the network. A job's next subtask is queued when one is done."""

    def __init__(
        self, lengths: Sequence[tuple[int, int, int]], order: Sequence[int], lead: int, chained: bool, spare: float
    ) -> None:
        self.lengths, self.lead, self.chained, self.spare = lengths, lead, chained, spare
        self.now = 0
        self.finished = [0] * len(lengths)  # iterations
        self.phase = [PULL] * len(lengths)  # next or present subtask
        self.queues: tuple[list[int], list[int]] = ([], list(order))  # CPU, network: jobs, first come first
        # (end, job) on the CPU, the network, and beside that
        self.busy: list[tuple[int, int] | None] = [None, None, None]
        self.waiting: list[int] = []  # jobs that are too far ahead, in the order of their coming

    def step(self) -> Iterator[Subtask]:
        """Start of all subtasks that can start, then advance to the next end."""
        for track in (0, 1):
            if self.busy[track] is None and self.queues[track]:
                job = self.queues[track].pop(0)
                end = self.now + self.lengths[job][self.phase[job]]
                self.busy[track] = (end, job)
                yield Subtask(job, self.phase[job], self.finished[job] + 1, self.now, end)
        primary = self.busy[1]
        if self.spare and primary is not None and self.busy[2] is None and self.queues[1]:
            job = self.queues[1].pop(0)
            end = self._beside(primary[0], self.lengths[job][self.phase[job]])
            self.busy[2] = (end, job)
            yield Subtask(job, self.phase[job], self.finished[job] + 1, self.now, end, secondary=True)
        ends = [(busy[0], track, busy[1]) for track, busy in enumerate(self.busy) if busy is not None]
        heapq.heapify(ends)
        self.now = ends[0][0]
        while ends and ends[0][0] == self.now:
            _, track, job = heapq.heappop(ends)
            self.busy[track] = None
            self._done(job)
        if self.busy[1] is None:  # the secondary subtask becomes the primary one; its end is as planned
            self.busy[1], self.busy[2] = self.busy[2], None
        slowest = min(self.finished)
        ready = [job for job in self.waiting if self.finished[job] - slowest <= self.lead]
        self.waiting = [job for job in self.waiting if self.finished[job] - slowest > self.lead]
        self.queues[1].extend(ready)

    def signature(self) -> tuple[int, ...]:
        """State that determines the future, relative to now and to the slowest job."""
        slowest = min(self.finished)
        ends = [n for busy in self.busy for n in ((busy[0] - self.now, busy[1]) if busy else (-1, -1))]
        parts = (self.phase, [f - slowest for f in self.finished], self.queues[0], self.queues[1], self.waiting, ends)
        return tuple(n for part in parts for n in (*part, -2))

    def leap(self, times: int, period: int, turns: int) -> None:
        """Progress by n periods at once."""
        self.now += times * period
        self.finished = [count + times * turns for count in self.finished]
        self.busy = [(busy[0] + times * period, busy[1]) if busy else None for busy in self.busy]

    def _beside(self, primary_end: int, length: int) -> int:
        """End of a secondary subtask that starts now: at the rate left, and at the full one once the primary ends."""
        alone = primary_end - self.now
        if length <= self.spare * alone:
            return self.now + math.ceil(length / self.spare)
        return primary_end + length - math.floor(self.spare * alone)

    def _done(self, job: int) -> None:
        if self.phase[job] == PUSH:
            self.finished[job] += 1
            self.phase[job] = PULL
            if self.chained and self.finished[job] - min(self.finished) <= self.lead:
                self.queues[1].insert(0, job)
            else:
                self.waiting.append(job)
        else:
            self.phase[job] += 1
            self.queues[0 if self.phase[job] == COMP else 1].append(job)


def _micro(ms: float) -> int:
    return max(0, round(ms * 1000))
