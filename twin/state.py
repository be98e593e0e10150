"""Folds the event log into what a late joiner needs; static/js/store.js folds the same events to the same state.

Bars are bi-temporal: `born_ms` is when they were decided, `died_ms` when a later plan replaced them (-1 = still true).
At playhead p the picture is the rows with born <= p and (died = -1 or died > p).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduling.model import CLOUD, Event, Placement, Role

BAR_FIELDS = (*Placement._fields, "born_ms", "died_ms")
JOB_FIELDS = ("arrived_ms", "decided_ms", "start_ms", "finish_ms", "completed_ms", "utility")
START, END = Placement._fields.index("start_ms"), Placement._fields.index("end_ms")
BORN, DIED = len(Placement._fields), len(Placement._fields) + 1
NEVER = -1
UNKNOWN = (NEVER, NEVER, NEVER, NEVER, NEVER, 0.0)  # a job that has not arrived
WORKER, PS = int(Role.WORKER), int(Role.PS)
PLANS = ("planned", "lanes_planned")  # kinds of events that have bars


class Growing:
    """A matrix that grows by doubling."""

    def __init__(self, width: int, dtype: Any = np.int64, rows: int = 256) -> None:
        self.data = np.empty((rows, width), dtype=dtype)
        self.length = 0

    @property
    def rows(self) -> np.ndarray:
        return self.data[: self.length]

    def add(self, count: int) -> np.ndarray:
        """`count` new rows, to be filled."""
        first, self.length = self.length, self.length + count
        if self.length > len(self.data):
            grown = np.empty((max(self.length, 2 * len(self.data)), self.data.shape[1]), dtype=self.data.dtype)
            grown[:first] = self.data[:first]
            self.data = grown
        return self.data[first : self.length]


class RunState:
    """The state of a run after the last event that it was fed."""

    def __init__(self) -> None:
        self.last_seq = 0
        self.sim_ms = 0
        self.finished = False
        self.started: dict[str, Any] = {}  # data of run_started
        self.jobs = Growing(len(JOB_FIELDS), dtype=np.float64)  # [job index, JOB_FIELDS], arrived_ms = -1 before arrival
        self.verdicts: list[list[str] | None] = []  # [first kind, latest kind, latest code] of each job
        self.firsts = Growing(2)  # [job index]: the event of its first decision, and how many bars there were before it
        self.bars = Growing(len(BAR_FIELDS))
        self.alive: dict[int, list[int]] = {}  # rows of each job's bars that no later plan has replaced
        self.alive_on: dict[
            tuple[int, int, int], list[int]
        ] = {}  # the same of lanes, where plans are of lanes: rows of the last one
        self.prices: dict[int, list[list[float | None]]] = {}  # slot -> [low, mean, high], each flat [site][resource]
        self.groups: list[list[Any]] = []  # [from_ms, until_ms, data of grouped] in the order told; -1 = until further notice
        self.grouped: dict[int, int] = {}  # group -> its place in `groups`, while it has jobs
        self.regroupings: list[list[Any]] = []  # [at_ms, site, cause, before [cpu, net], after [cpu, net]] in the order told
        self.edits: list[tuple[int, list[str]]] = []  # (at_ms, what was changed) in the order told
        self.default_prices: list[list[float | None]] | None = None  # of slots never named

    def feed(self, events: Iterable[Event]) -> RunState:
        """Folds events; those already folded are passed over."""
        for event in events:
            if event.seq > self.last_seq:
                bars = event.data["bars"] if event.kind in PLANS else ()
                self._apply(event.seq, event.at_ms, event.kind, event.data, np.asarray(bars, dtype=np.int64).reshape(-1, BORN))
        return self

    def feed_raw(self, lines: Sequence[Any], bars: np.ndarray, up_to: int | None = None, up_to_ms: int | None = None) -> RunState:
        """Folds a batch as eventlog.lines_and_bars gives it, not beyond event `up_to` nor beyond the instant `up_to_ms`."""
        for seq, at_ms, kind, data in lines:
            if seq <= self.last_seq:
                continue
            if (up_to is not None and seq > up_to) or (up_to_ms is not None and at_ms > up_to_ms):
                break
            rows = bars[data["bars"][0] : data["bars"][0] + data["bars"][1]] if kind in PLANS else bars[:0]
            self._apply(seq, at_ms, kind, data, rows)
        return self

    def _apply(self, seq: int, at_ms: int, kind: str, data: Any, bars: np.ndarray) -> None:
        self.last_seq, self.sim_ms = seq, at_ms
        if kind == "planned":
            self._planned(at_ms, data, bars)
        elif kind == "lanes_planned":
            self._lanes_planned(at_ms, data, bars)
        elif kind == "decided":
            job = self._job(data["job"])
            verdict = self.verdicts[data["job"]]
            if verdict is None:
                job[1] = at_ms
                self.firsts.data[data["job"]] = self.last_seq, self.bars.length
                self.verdicts[data["job"]] = [data["kind"], data["kind"], data["code"]]
            else:
                verdict[1:] = [data["kind"], data["code"]]
        elif kind == "job_arrived":
            self._job(data["job"])[0] = at_ms
        elif kind == "job_completed":
            job = self._job(data["job"])
            job[4], job[5] = at_ms, data["utility"]
        elif kind == "priced":
            self._priced(data)
        elif kind == "grouped":
            self._grouped(at_ms, data)
        elif kind == "regrouped":
            self.regroupings.append([at_ms, data["site"], data["cause"], data["before"], data["after"]])
        elif kind == "edited":
            self.edits.append((at_ms, list(data["said"])))
            self.default_prices, self.prices = None, {}  # those of the world that begins follow, if it has any
        elif kind == "run_started":
            self.started = dict(data)
        elif kind == "run_finished":
            self.finished = True

    def _job(self, index: int) -> np.ndarray:
        missing = index + 1 - self.jobs.length
        if missing > 0:
            self.jobs.add(missing)[:] = UNKNOWN
            self.firsts.add(missing)[:] = NEVER
            self.verdicts.extend([None] * missing)
        return self.jobs.data[index]

    def _planned(self, at_ms: int, data: Any, bars: np.ndarray) -> None:
        index = data["job"]
        alive = self._replace(self.alive.pop(index, []), at_ms)
        truth = self.bars.data[alive] if alive else bars[:0]  # of earlier plans
        if len(bars):
            first = self.bars.length
            rows = self.bars.add(len(bars))
            rows[:, :BORN], rows[:, BORN], rows[:, DIED] = bars, at_ms, NEVER
            alive += range(first, first + len(bars))
        self.alive[index] = alive
        job = self._job(index)
        job[3] = NEVER if data["finish_ms"] is None else data["finish_ms"]
        starts = [part[part[:, 1] == WORKER, START] for part in (truth, bars) if len(part)]
        job[2] = min((int(some.min()) for some in starts if len(some)), default=NEVER)

    def _lanes_planned(self, at_ms: int, data: Any, bars: np.ndarray) -> None:
        replaced: list[int] = []
        for lane in map(tuple, np.asarray(data["lanes"]).reshape(-1, 3).tolist()):
            replaced += self.alive_on.pop(lane, ())
        self._replace(replaced, at_ms)
        first = self.bars.length
        rows = self.bars.add(len(bars))
        rows[:, :BORN], rows[:, BORN], rows[:, DIED] = bars, at_ms, NEVER
        places = np.stack([bars[:, 1] == PS, bars[:, 2], np.where(bars[:, 2] == CLOUD, bars[:, 0], bars[:, 6])], axis=1)
        for row, lane in enumerate(map(tuple, places.tolist()), start=first):
            self.alive_on.setdefault(lane, []).append(row)
        for index, start_ms, finish_ms in np.asarray(data["jobs"]).reshape(-1, 3).tolist():
            self._job(index)[2:4] = start_ms, finish_ms

    def _replace(self, rows: list[int], at_ms: int) -> list[int]:
        """Ends the rows' future at at_ms: what had begun is cut, what had not is dropped. Returns the rows that stay true."""
        if not rows:
            return []
        index = np.array(rows)
        bars = self.bars.data[index]
        ahead = bars[:, END] > at_ms
        if not ahead.any():
            return rows
        self.bars.data[index[ahead], DIED] = at_ms
        begun = ahead & (bars[:, START] < at_ms)
        cut = bars[begun]
        cut[:, END], cut[:, BORN], cut[:, DIED] = at_ms, at_ms, NEVER
        index[begun] = self.bars.length + np.arange(len(cut))
        self.bars.add(len(cut))[:] = cut
        return index[~ahead | begun].tolist()

    def _grouped(self, at_ms: int, data: Any) -> None:
        known = self.grouped.pop(data["group"], None)
        if known is not None:
            self.groups[known][1] = at_ms
        if data["jobs"]:
            self.grouped[data["group"]] = len(self.groups)
            self.groups.append([at_ms, NEVER, data])

    def _priced(self, data: Any) -> None:
        columns = [data["low"], data["mean"], data["high"]]
        if data["slots"] == "all":
            self.default_prices, self.prices = columns, {}
            return
        width = len(columns[0]) // max(1, len(data["slots"]))
        for i, slot in enumerate(data["slots"]):
            self.prices[slot] = [column[i * width : (i + 1) * width] for column in columns]


def at(run_id: int, up_to: int | None = None, state: RunState | None = None, *, at_ms: int | None = None) -> RunState:
    """The state of a run after event `up_to`, or at the end of the instant `at_ms`; with neither, the newest.

    `state` is carried on when it is given; it is never taken back.
    """
    from twin.eventlog import lines_and_bars

    state = state or RunState()
    for lines, bars in lines_and_bars(run_id, state.last_seq, up_to, at_ms):
        state.feed_raw(lines, bars, up_to, at_ms)
    return state


def snapshot(state: RunState) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(meta, columns) for columns.pack: the whole state as the browser takes it."""
    slots = sorted(state.prices)
    meta = {
        "last_seq": state.last_seq,
        "sim_ms": state.sim_ms,
        "finished": state.finished,
        "started": state.started,
        "verdicts": state.verdicts,
        "default_prices": state.default_prices,
        "groups": state.groups,
        "regroupings": state.regroupings,
        "edits": state.edits,
        "prices": [[slot, *state.prices[slot]] for slot in slots],
    }
    columns = {f"jobs_{name}": state.jobs.rows[:, i].copy() for i, name in enumerate(JOB_FIELDS)}
    wide = {"start_ms", "end_ms", "born_ms", "died_ms"}  # ms do not fit 32 bits; float64 is exact and native in the browser
    for i, name in enumerate(BAR_FIELDS):
        columns[f"bars_{name}"] = state.bars.rows[:, i].astype(np.float64 if name in wide else np.int32)
    return meta, columns
