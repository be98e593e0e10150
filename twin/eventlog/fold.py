"""Fold of the event log to the state that a new client needs; static/js/core/store.js folds to the same state.

Bars are bi-temporal: `born_ms` is when they were decided, `died_ms` when a later plan replaced them (-1 = still true).
At playhead p the visible rows are those that are valid then (`valid_at`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from scheduling.kernel.plan_scopes import scope_of
from scheduling.model.bars import CLOUD, END, JOB, ROLE, SERVER, START, STORED_NAMES, WIDTH, WORKER_SLOT, Role
from scheduling.model.values import Event
from twin.eventlog.batch_codec import UnreadableLog
from twin.eventlog.samples import SAMPLE_AT, SAMPLE_FIELDS, USE_FIELDS

BAR_FIELDS = (*STORED_NAMES, "born_ms", "died_ms")
JOB_FIELDS = ("arrived_ms", "decided_ms", "start_ms", "finish_ms", "completed_ms", "utility", "rejected_ms")
UNTIL = 1  # column of an interval of a group, or of a suspension, after its start
NUMBER, REPLACED = 0, 2  # columns of a reservation, before those of RESERVED
RESERVED = ("from_ms", "until_ms", "name", "servers", "maintenance", "holders")
# kinds of events that pages read from the log
UNFOLDED = ("server_changed", "job_added", "job_set", "server_added", "server_set")
ARRIVED, DECIDED_AT, START_AT, FINISH_AT, COMPLETED_AT, UTILITY, REJECTED_AT = range(len(JOB_FIELDS))
BORN, DIED = WIDTH, WIDTH + 1
NEVER = -1
# kind of a decision with the reason why a job of a real cluster still waits; the job is undecided
WAITS = "waits"
SUSPENDED = "suspended"  # kind of a decision of a real cluster: the job keeps what it holds, so that its bars go on
REQUEUED = "requeued"  # kind of a decision of a real cluster: the job has run, and waits again
UNKNOWN = (NEVER, NEVER, NEVER, NEVER, NEVER, 0.0, NEVER)  # a job that has not arrived
VERDICTS = ("admitted", "started", "resumed", "preempted", "paused", "rejected", "unfinished")  # kinds of decisions
VERDICT = {name: i for i, name in enumerate(VERDICTS)}
OTHER = len(VERDICTS)  # a kind that is not counted
LATEST_KIND, LATEST_CODE = 1, 2  # columns of the verdict of a job, after its first kind
DECIDED_FIELDS = ("seq", "at_ms", "job", "verdict")
SEQ, AT, JOB_OF, VERDICT_OF = range(len(DECIDED_FIELDS))
# first_bar, bars: of the whole event, also of its other jobs
PLANNED_FIELDS = (*DECIDED_FIELDS[:VERDICT_OF], "start_ms", "finish_ms", "first_bar", "bars")
START_MS, FINISH_MS, FIRST_BAR, BARS = range(VERDICT_OF, len(PLANNED_FIELDS))
WORKER, PS = int(Role.WORKER), int(Role.PS)


def valid_at(bars: np.ndarray, at_ms: int) -> np.ndarray:
    """Mask [bar] of the bars of the plans of a time: decided by then, and not replaced by then."""
    return (bars[:, BORN] <= at_ms) & ((bars[:, DIED] == NEVER) | (bars[:, DIED] > at_ms))


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
        self.restated = False  # plans state what happened: of a real cluster
        self.started: dict[str, Any] = {}  # data of run_started
        # [job index, JOB_FIELDS], arrived_ms = -1 before arrival
        self.jobs = Growing(len(JOB_FIELDS), dtype=np.float64)
        self.verdicts: list[list[str] | None] = []  # [first kind, latest kind, latest code] of each job
        self.firsts = Growing(2)  # [job index]: the event of its first decision, and how many bars there were before it
        self.bars = Growing(len(BAR_FIELDS))
        self.decided = Growing(len(DECIDED_FIELDS))  # each decision, in the order of the log
        self.planned = Growing(len(PLANNED_FIELDS))  # each plan of a job, in the order of the log
        self.alive: dict[Any, list[int]] = {}  # job, or (role, server, worker) -> rows of the bars of its newest plan
        self.prices: dict[int, list[list[float | None]]] = {}  # slot -> [low, mean, high], each flat [site][resource]
        # [from_ms, until_ms, data of grouped] in the order of the log; -1 = until further notice
        self.groups: list[list[Any]] = []
        self.grouped: dict[int, int] = {}  # group -> its place in `groups`, while it has jobs
        # [at_ms, site, cause, before [cpu, net], after [cpu, net]] in the order of the log
        self.regroupings: list[list[Any]] = []
        self.edits: list[tuple[int, list[str]]] = []  # (at_ms, what was changed) in the order of the log
        self.gaps: list[
            list[Any]
        ] = []  # [from_ms, to_ms, reason]: when a real cluster was not seen, in the order of the log
        # [number, stated_ms, replaced_ms, *RESERVED] of a real cluster, in the order of the log; replaced_ms of
        # the newest statement is -1
        self.reservations: list[list[Any]] = []
        # job of a real cluster that keeps what it holds -> [[from_ms, until_ms]]; -1 = until further notice
        self.suspensions: dict[int, list[list[int]]] = {}
        # job of a real cluster that has run and waits again -> the same; of a job without bars nothing else says so
        self.requeues: dict[int, list[list[int]]] = {}
        self.samples = Growing(len(SAMPLE_FIELDS))  # [server]: its newest sample, at_ms = -1 before the first
        self.use = Growing(len(USE_FIELDS))  # what the sampled servers of a site used, in the order of the log
        # of the slots that `prices` does not list, from the newest edit on
        self.default_prices: list[list[float | None]] | None = None
        # [slot, default_prices before it] at each edit: slots before it keep the prices of their phase
        self.earlier_prices: list[tuple[int, list[list[float | None]] | None]] = []

    @property
    def seen_from_ms(self) -> int:
        """Time of the first observation of a real cluster: of the time before it, only the jobs that were still open
        are known. 0 if everything is known.
        """
        from_ms, to_ms, _ = self.gaps[0] if self.gaps else (0, 0, "")
        return int(to_ms) if from_ms == 0 else 0  # its log begins with this gap

    def feed(self, events: Iterable[Event]) -> RunState:
        """Fold of events; those already folded are skipped."""
        for event in events:
            if event.seq > self.last_seq:
                bars = event.data["bars"] if event.kind == "plan_changed" else ()
                self._apply(
                    event.seq, event.at_ms, event.kind, event.data, np.asarray(bars, dtype=np.int64).reshape(-1, BORN)
                )
        return self

    def feed_raw(
        self, lines: Iterable[Any], bars: np.ndarray, up_to: int | None = None, up_to_ms: int | None = None
    ) -> RunState:
        """State after a batch as event_log.lines_and_bars gives it, not beyond event `up_to` nor instant `up_to_ms`."""
        for seq, at_ms, kind, data in lines:
            if seq <= self.last_seq:
                continue
            if (up_to is not None and seq > up_to) or (up_to_ms is not None and at_ms > up_to_ms):
                break
            rows = data["bars"].of(bars) if kind == "plan_changed" else bars[:0]
            self._apply(seq, at_ms, kind, data, rows)
        return self

    def _apply(self, seq: int, at_ms: int, kind: str, data: Any, bars: np.ndarray) -> None:
        self.last_seq, self.sim_ms = seq, at_ms
        if kind == "plan_changed":
            self._plan_changed(seq, at_ms, data, bars)
        elif kind == "decided":
            job = self._job(data["job"])
            self.decided.add(1)[0] = seq, at_ms, data["job"], VERDICT.get(data["kind"], OTHER)
            if data["kind"] == "rejected":
                job[REJECTED_AT] = at_ms
            _last(self.suspensions, at_ms, data["job"], data["kind"] == SUSPENDED)
            _last(self.requeues, at_ms, data["job"], self._waits_again(data["job"], data["kind"]))
            verdict = self.verdicts[data["job"]]
            if job[DECIDED_AT] == NEVER and data["kind"] != WAITS:
                job[DECIDED_AT] = at_ms
            if verdict is None:
                self.firsts.data[data["job"]] = self.last_seq, self.bars.length
                self.verdicts[data["job"]] = [data["kind"], data["kind"], data["code"]]
            else:
                verdict[LATEST_KIND], verdict[LATEST_CODE] = data["kind"], data["code"]
        elif kind == "job_arrived":
            self._job(data["job"])[ARRIVED] = data.get("submitted_ms", at_ms)
        elif kind == "job_completed":
            job = self._job(data["job"])
            job[COMPLETED_AT], job[UTILITY] = data.get("ended_ms", at_ms), data["utility"]
        elif kind == "priced":
            self._priced(data)
        elif kind == "grouped":
            self._grouped(at_ms, data)
        elif kind == "regrouped":
            self.regroupings.append([at_ms, data["site"], data["cause"], data["before"], data["after"]])
        elif kind == "gap":
            self.gaps.append([data["from_ms"], data["to_ms"], data["reason"]])
        elif kind == "reserved":
            self._reserved(at_ms, data)
        elif kind == "suspensions_set":
            self.suspensions[data["job"]] = [list(span) for span in data["spans"]]
        elif kind == "sampled":
            self._sampled(data)
        elif kind == "edited":
            self.edits.append((at_ms, list(data["said"])))
            self._keep_prices(at_ms // self.started.get("slot_ms", 1))
        elif kind == "run_started":
            self.started = dict(data)
        elif kind == "run_finished":
            self.finished, self.alive = True, {}  # no plan follows
        elif kind not in UNFOLDED:
            raise UnreadableLog(
                f"event {seq} has the unknown kind {kind!r}: the log is from a newer version or damaged; "
                "update the twin, or verify the run"
            )

    def _waits_again(self, job: int, kind: str) -> bool:
        """True if a job that has run waits after a decision."""
        begun = (self.jobs.data[job, [DECIDED_AT, START_AT]] != NEVER).any()
        return kind == REQUEUED or (kind == WAITS and bool(begun))

    def suspension_rows(self) -> list[list[int]]:
        """[suspension] job, from_ms, until_ms."""
        return _rows(self.suspensions)

    def requeue_rows(self) -> list[list[int]]:
        """[wait of a requeued job] job, from_ms, until_ms."""
        return _rows(self.requeues)

    def suspended_since(self, at_ms: int) -> dict[int, int]:
        """{job: beginning of its suspension} of those that a real cluster suspends at a moment."""
        return _since(self.suspensions, at_ms)

    def requeued_since(self, at_ms: int) -> dict[int, int]:
        """{job: beginning of its wait} of those that wait again at a moment, by the decisions of a real cluster."""
        return _since(self.requeues, at_ms)

    def _reserved(self, at_ms: int, data: Any) -> None:
        for row in self.reservations:
            if row[NUMBER] == data["reservation"] and row[REPLACED] == NEVER:
                row[REPLACED] = at_ms
        self.reservations.append([data["reservation"], at_ms, NEVER, *(data[name] for name in RESERVED)])

    def _job(self, index: int) -> np.ndarray:
        missing = index + 1 - self.jobs.length
        if missing > 0:
            self.jobs.add(missing)[:] = UNKNOWN
            self.firsts.add(missing)[:] = NEVER
            self.verdicts.extend([None] * missing)
        return self.jobs.data[index]

    def _plan_changed(self, seq: int, at_ms: int, data: Any, bars: np.ndarray) -> None:
        scope = scope_of(data)
        of_jobs = not scope.of_workers
        self.restated = self.restated or scope.restates
        replaced: list[int] = []
        for key in data["keys"]:
            replaced += self.alive.pop(key if of_jobs else tuple(key), ())
        if scope.restates:  # the history is logged again, from the job's start on
            self.bars.data[replaced, DIED] = at_ms
        else:
            self._replace(replaced, at_ms)
        first = self.bars.length
        rows = self.bars.add(len(bars))
        rows[:, :BORN], rows[:, BORN], rows[:, DIED] = bars, at_ms, NEVER
        if of_jobs and len(data["keys"]) == 1:
            self.alive[data["keys"][0]] = list(range(first, first + len(bars)))
        else:
            for row, key in enumerate(bars[:, JOB].tolist() if of_jobs else workers_of(bars), start=first):
                self.alive.setdefault(key, []).append(row)
        planned = self.planned.add(len(data["jobs"]))
        for row, (index, start_ms, finish_ms) in enumerate(data["jobs"]):
            self._job(index)[[START_AT, FINISH_AT]] = start_ms, finish_ms
            verdict = self.verdicts[index]
            if scope.restates and not len(bars) and verdict is not None and verdict[LATEST_KIND] == WAITS:
                _last(self.requeues, start_ms, index, True)  # an earlier execution, of which the cluster told only now
            planned[row] = seq, at_ms, index, start_ms, finish_ms, first, len(bars)

    def _replace(self, rows: list[int], at_ms: int) -> None:
        """End of the future of rows at at_ms: started bars are cut, others are removed."""
        if not rows:
            return
        index = np.array(rows)
        bars = self.bars.data[index]
        ahead = bars[:, END] > at_ms
        self.bars.data[index[ahead], DIED] = at_ms
        begun = ahead & (bars[:, START] < at_ms)
        cut = bars[begun]
        cut[:, END], cut[:, BORN], cut[:, DIED] = at_ms, at_ms, NEVER
        self.bars.add(len(cut))[:] = cut

    def _grouped(self, at_ms: int, data: Any) -> None:
        known = self.grouped.pop(data["group"], None)
        if known is not None:
            self.groups[known][UNTIL] = at_ms
        if data["jobs"]:
            self.grouped[data["group"]] = len(self.groups)
            self.groups.append([at_ms, NEVER, data])

    def _sampled(self, data: Any) -> None:
        use = np.asarray(data["use"], dtype=np.int64).reshape(-1, len(USE_FIELDS))
        self.use.add(len(use))[:] = use
        rows = np.asarray(data["rows"], dtype=np.int64).reshape(-1, 1 + len(SAMPLE_FIELDS))
        server, at_ms, *_ = rows.T
        missing = int(server.max(initial=-1)) + 1 - self.samples.length
        if missing > 0:
            self.samples.add(missing)[:] = NEVER
        newer = at_ms > self.samples.data[server, SAMPLE_AT]
        self.samples.data[server[newer]] = rows[newer, 1:]

    def prices_of(self, slot: int) -> list[list[float | None]] | None:
        """[low, mean, high] in a slot, each flat [site][resource]; None without prices."""
        if slot in self.prices:
            return self.prices[slot]
        return next((columns for until, columns in self.earlier_prices if slot < until), self.default_prices)

    def _keep_prices(self, first: int) -> None:
        """An edit in the slot `first`: earlier slots keep their prices; those of the new phase follow."""
        self.earlier_prices.append((first, self.default_prices))
        self.prices = {slot: columns for slot, columns in self.prices.items() if slot < first}
        self.default_prices = None

    def _priced(self, data: Any) -> None:
        columns = [data["low"], data["mean"], data["high"]]
        first = self.earlier_prices[-1][0] if self.earlier_prices else 0
        if data["slots"] == "all":
            self.prices = {slot: kept for slot, kept in self.prices.items() if slot < first}
            self.default_prices = columns
            return
        width = len(columns[0]) // max(1, len(data["slots"]))
        for i, slot in enumerate(data["slots"]):
            if slot >= first:
                self.prices[slot] = [column[i * width : (i + 1) * width] for column in columns]


def _last(spans_of: dict[int, list[list[int]]], at_ms: int, job: int, holds: bool) -> None:
    """A state of a job lasts until the next decision by which it no longer holds, where the cluster states no times."""
    spans = spans_of.get(job, [])
    is_open = bool(spans) and spans[-1][UNTIL] == NEVER
    if holds and not is_open:
        spans_of[job] = [*spans, [at_ms, NEVER]]
    elif is_open and not holds:
        spans[-1][UNTIL] = at_ms


def _rows(spans_of: dict[int, list[list[int]]]) -> list[list[int]]:
    """[span] job, from_ms, until_ms."""
    return [[job, *span] for job, spans in spans_of.items() for span in spans]


def _since(spans_of: dict[int, list[list[int]]], at_ms: int) -> dict[int, int]:
    """{job: beginning of its span} of those that have one at a moment."""
    return {
        job: from_ms
        for job, from_ms, until_ms in _rows(spans_of)
        if from_ms <= at_ms and (until_ms == NEVER or at_ms < until_ms)
    }


def workers_of(bars: np.ndarray) -> list[tuple[int, int, int]]:
    """[bar] (role, server, worker) that it is on; in the cloud, which has no workers, the job is the worker."""
    own = np.where(bars[:, SERVER] == CLOUD, bars[:, JOB], bars[:, WORKER_SLOT])
    return list(map(tuple, np.stack([bars[:, ROLE] == PS, bars[:, SERVER], own], axis=1).tolist()))


def snapshot(state: RunState) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Whole state as (meta, columns) for columns.pack, as sent to browsers."""
    slots = sorted(state.prices)
    meta = {
        "last_seq": state.last_seq,
        "sim_ms": state.sim_ms,
        "finished": state.finished,
        "started": state.started,
        "verdicts": state.verdicts,
        "default_prices": state.default_prices,
        "earlier_prices": [list(each) for each in state.earlier_prices],
        "groups": state.groups,
        "regroupings": state.regroupings,
        "edits": state.edits,
        "gaps": state.gaps,
        "reservations": state.reservations,
        "prices": [[slot, *state.prices[slot]] for slot in slots],
    }
    if state.restated:
        meta["restated"] = True
    if state.suspensions:  # jobs of simulated runs have no bars while they are suspended
        meta["suspensions"] = state.suspension_rows()
    if state.requeues:
        meta["requeues"] = state.requeue_rows()
    columns = {f"jobs_{name}": state.jobs.rows[:, i].copy() for i, name in enumerate(JOB_FIELDS)}
    # ms do not fit 32 bits; float64 is exact and native in the browser
    wide = {"start_ms", "end_ms", "born_ms", "died_ms"}
    for i, name in enumerate(BAR_FIELDS):
        columns[f"bars_{name}"] = state.bars.rows[:, i].astype(np.float64 if name in wide else np.int32)
    for prefix, table, fields in (("samples", state.samples, SAMPLE_FIELDS), ("use", state.use, USE_FIELDS)):
        if table.length:  # nobody samples a simulated cluster
            columns |= {f"{prefix}_{name}": table.rows[:, i].astype(np.float64) for i, name in enumerate(fields)}
    return meta, columns
