"""Google cluster data 2011: headerless parts of job_events (8 columns) and task_events (13), any of them in any order.

A job arrives with its SUBMIT in job_events; with task_events alone, with the first SUBMIT of its tasks. A job submitted
before the window (time 0), or whose tasks begin before the parts at hand, is skipped as before_window: nothing says
when it arrived or what it had done by then. Each distinct task index is a worker. A task runs from SCHEDULE to EVICT,
FAIL, FINISH, KILL or LOST, as often as it runs; a start without an end, and an end without a start, are dropped. Run
time = that sum over all tasks / workers, which keeps the work; a job without a task in these parts is skipped. With
job_events alone, run time = last end - first SCHEDULE, and the workers are sampled from 1-30 (PD-ORS' baselines).

Rows are reduced chunk by chunk to small integers; a skipped job is reported once, at its first row, and its other rows
are merged.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling.reporting.quantities import counted
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.synthesis import Draws
from twin.traces.uploads.lines import chunks, first_lines, floats

FORMAT = "google2011"
TITLE = "Google cluster data 2011 (job_events, task_events)"
TIME_UNIT = "us"
JOB, TASK = 8, 13  # columns
# Columns of a part: time us, job id, event, scheduling class, user; then task index, cpu, ram, disk.
PLACES = {JOB: (0, 2, 3, 5, 4), TASK: (0, 2, 5, 7, 6, 3, 9, 10, 11)}
SUBMIT, SCHEDULE, ENDS, LAST_EVENT = 0, 1, (2, 6), 8  # UPDATE_PENDING and UPDATE_RUNNING change nothing here
AFTER = 2**63 - 1  # a time after the end of the trace
LATEST_US = 100 * 366 * 86_400 * 1_000_000  # a century
MAX_MACHINE = (64_000, 256_000, 4_000_000)  # thousandths of vCPU, GB memory, GB storage
WORKERS = (1, 30)  # sampled where there is no task table
UTILITY_TYPES = np.array([0, 1, 1, 2])  # scheduling class -> insensitive, sensitive, sensitive, critical


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): no header, 8 or 13 cells, and numbers where time, ids and event are."""
    lines = [line.split(b",") for line in first_lines(head)]
    width = len(lines[0]) if lines else 0
    if width not in PLACES:
        return False, f"the first line has {width} cells, not {JOB} or {TASK}", 0.0
    good = sum(len(cells) == width and _is_event(cells, width) for cells in lines)
    if 2 * good >= len(lines):
        return True, "the cells are those of events", good / len(lines)
    fitting = f"{good:,} of {counted(len(lines), 'line')}"
    why = f"time, job id, event and class are whole numbers in their range in only {fitting}"
    return False, why, good / len(lines)


def _is_event(cells: Sequence[bytes], width: int) -> bool:
    time, job, event, kind, _, *task = (cells[at].strip() for at in PLACES[width])
    numbers = (time, job, event, *task[:1])
    return (
        all(cell.isdigit() for cell in numbers)
        and len(event) == 1
        and int(event) <= LAST_EVENT
        and kind in (b"", *b"0 1 2 3".split())
    )


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Events to jobs."""
    skipped, found = Skipped(), _Found()
    for number, source in enumerate(sources):
        width = len((first_lines(source.head, 1) or [b""])[0].split(b","))
        if width not in PLACES:
            raise ImportRefused(
                f"{source.name}: line 1: {width} cells; job_events have {JOB} and task_events {TASK}, without a header"
            )
        _Part(source, number, width, skipped, found).read(options)
    jobs = _Jobs(found)
    reasons = jobs.reasons()
    for code in np.flatnonzero(reasons != "").tolist():
        skipped.file = sources[found.file[code]].name
        skipped.add(found.line[code], reasons[code], found.ids[code])
    rows = np.flatnonzero(reasons == "")
    if not len(rows):
        raise skipped.nothing(sources[0].name, found.rows)
    rows = rows[np.argsort(jobs.submit[rows], kind="stable")]
    ids = np.array(found.ids, dtype=np.int64)[rows]
    workers, run_ms = jobs.size(rows, ids, options.seed)
    drafts = Drafts(
        keys=ids, prefix="j", arrival_ms=(jobs.submit[rows] - jobs.submit[rows[0]]) // 1000, run_ms=run_ms,
        workers=workers, demand=jobs.demand(rows), known=jobs.known(rows),
        origins={
            "arrival_ms": "trace", "requested_workers": "derived" if jobs.tasked else "drawn", "worker": "derived",
            "utility_kind": "derived", "user": "trace",
        },
    )  # fmt: skip
    return Read(found.rows, skipped, drafts=drafts, notes=jobs.notes(), merged=found.good - len(found.ids))


@dataclass
class _Found:
    """Content of all parts.

    By job, in order of appearance: id, file and line of its first row, class, user, maximum of each request.

    events: {JOB or TASK: [(time of the part's first row, codes of jobs, task indices, times us, events)]}.
    """

    rows: int = 0
    good: int = 0  # rows that belong to a job
    codes: dict[int, int] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    file: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    user: list[str] = field(default_factory=list)
    request: NDArray[np.float64] = field(default_factory=lambda: np.full((0, 3), -1.0))
    events: dict[int, list[tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int8]]]] = (
        field(default_factory=lambda: {JOB: [], TASK: []})
    )


class _Part:
    """File of events."""

    def __init__(self, source: Source, number: int, width: int, skipped: Skipped, found: _Found) -> None:
        self.source, self.number, self.width, self.skipped, self.found = source, number, width, skipped, found
        self.begin: int | None = None  # time of the first row

    def read(self, options: ReadOptions) -> None:
        """Addition of all rows to what has been found."""
        self.skipped.file = self.source.name
        for first, lines in chunks(self.source, options):
            cells = np.fromiter((line.count(b",") + 1 for line in lines), dtype=np.int64, count=len(lines))
            filled = np.fromiter((line != b"" for line in lines), dtype=bool, count=len(lines))
            self.found.rows += int(filled.sum())
            options.others.count += int((~filled).sum())
            numbers = first + np.arange(len(lines))
            for row in np.flatnonzero(filled & (cells != self.width)).tolist():
                reason = "too_few_cells" if cells[row] < self.width else "too_many_cells"
                self.skipped.add(int(numbers[row]), reason, f"{cells[row]} of {self.width}")
            whole = cells == self.width
            if not whole.all():
                lines, numbers = (
                    [line for line, good in zip(lines, whole.tolist(), strict=True) if good],
                    numbers[whole],
                )
            if lines:
                self._add(lines, numbers)

    def _add(self, lines: list[bytes], numbers: NDArray[np.int64]) -> None:
        """Rows that have all cells."""
        places = PLACES[self.width]
        columns = _columns(lines, places, self.width)
        (time, bad_time), (job, bad_job), (event, bad_event), (kind, bad_kind) = (
            _integers(columns[at]) for at in places[:4]
        )
        index, bad_index = (
            _integers(columns[places[5]])
            if self.width == TASK
            else (np.zeros_like(job), np.zeros(len(job), dtype=bool))
        )
        good = np.ones(len(lines), dtype=bool)
        for reason, bad, at in (
            ("unreadable_time", bad_time | (time < 0) | ((time > LATEST_US) & (time != AFTER)), places[0]),
            ("unreadable_job_id", bad_job | (job < 0), places[1]),
            ("unknown_status", bad_event | (event < 0) | (event > LAST_EVENT), places[2]),
            (
                "unreadable_task_index",
                bad_index | (index < 0) | (index >= 2**31),
                places[5 if self.width == TASK else 0],
            ),
        ):
            for row in np.flatnonzero(good & bad).tolist():
                self.skipped.add(int(numbers[row]), reason, lines[row].split(b",")[at].decode("utf-8", "replace"))
            good &= ~bad
        if not good.any():
            return
        kind = np.where(bad_kind | (kind < 0) | (kind >= len(UTILITY_TYPES)), -1, kind)
        job, time = job[good], time[good]
        codes = self._codes(job, numbers[good], kind[good], np.flatnonzero(good), columns[places[4]])
        self.begin = int(time[0]) if self.begin is None else self.begin
        self.found.good += len(job)
        part = (self.begin, codes, index[good].astype(np.int32), time, event[good].astype(np.int8))
        self.found.events[self.width].append(part)
        if self.width == TASK:
            for place, at in enumerate(places[6:]):
                share = _shares(columns[at])[good]
                np.maximum.at(self.found.request[:, place], codes, share)

    def _codes(self, job: NDArray, numbers: NDArray, kind: NDArray, rows: NDArray, users: Any) -> NDArray[np.int32]:
        """The code of each row's job; jobs not seen before are noted with this row."""
        found = self.found
        distinct, firsts, inverse = np.unique(job, return_index=True, return_inverse=True)
        known = np.empty(len(distinct), dtype=np.int32)
        for place in np.argsort(firsts).tolist():
            key, first = int(distinct[place]), int(firsts[place])
            code = found.codes.setdefault(key, len(found.ids))
            if code == len(found.ids):
                found.ids.append(key)
                found.file.append(self.number)
                found.line.append(int(numbers[first]))
                found.kind.append(int(kind[first]))
                found.user.append(_user(users.iat[int(rows[first])]))
            known[place] = code
        if len(found.request) < len(found.ids):
            found.request = np.concatenate([found.request, np.full((len(found.ids) - len(found.request), 3), -1.0)])
        return known[inverse]


def _columns(lines: list[bytes], places: Sequence[int], width: int) -> Any:
    """The cells of these places as a data frame. Whole numbers are int64 in every row, or text where one is none."""
    import pandas as pd

    data = io.BytesIO(b"\n".join(lines))
    whole = [*places[:4], *places[5:6]]
    text: dict[int, type] = {places[4]: str}
    for _ in range(2):
        data.seek(0)
        frame = pd.read_csv(
            data, header=None, names=range(width), usecols=sorted(places), dtype=text, quoting=3, keep_default_na=False,
            na_values=[""], skip_blank_lines=False, low_memory=False, lineterminator="\n",
        )  # fmt: skip
        if all(frame[at].dtype == np.int64 for at in whole):
            break
        text |= dict.fromkeys(whole, str)  # a float would not hold 64 bits
    return frame


def _integers(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(whole numbers, where there is none)."""
    if column.dtype == np.int64:
        return column.to_numpy(), np.zeros(len(column), dtype=bool)
    values = np.zeros(len(column), dtype=np.int64)
    bad = np.ones(len(column), dtype=bool)
    for row, cell in enumerate(column.tolist()):
        digits = cell.strip() if isinstance(cell, str) else ""
        if digits.isdigit() and digits.isascii() and len(digits) <= 19 and (number := int(digits)) <= AFTER:
            values[row], bad[row] = number, False
    return values, bad


def _shares(column: Any) -> NDArray[np.float64]:
    """Fractions of the largest machine; -1 where the cell is none."""
    values = floats(column)
    return np.where((values >= 0) & (values <= 1), values, -1.0)


def _user(cell: object) -> str:
    return cell.strip().strip('"')[:200] if isinstance(cell, str) else ""


class _Jobs:
    """Jobs from the events of all parts. tasked: whether there is a task table. Times in us, -1 = none."""

    def __init__(self, found: _Found) -> None:
        self.found, self.tasked, self.listed = found, bool(found.events[TASK]), bool(found.events[JOB])
        self.count = len(found.ids)
        self.submit: NDArray = np.full(self.count, -1, dtype=np.int64)
        self.start, self.end = self.submit.copy(), self.submit.copy()
        self.cut = np.zeros(self.count, dtype=bool)  # whose first event is no SUBMIT, where only tasks say so
        self.tasks: NDArray = np.zeros(self.count, dtype=np.int64)
        self.lives: NDArray = self.tasks.copy()  # with start and end
        self.total: NDArray = np.zeros(self.count)  # us of all tasks
        self.open = self.headless = 0  # starts without an end, ends without a start
        if self.listed:
            self._from_jobs(*_joined(found.events[JOB]))
        if self.tasked:
            self._from_tasks(*_joined(found.events[TASK]))

    def _from_jobs(self, codes: NDArray, _: NDArray, time: NDArray, event: NDArray) -> None:
        seen = time != AFTER
        self.submit = _least(self.count, codes, time, seen & (event == SUBMIT))
        self.start = _least(self.count, codes, time, seen & (event == SCHEDULE))
        ends = seen & (event >= ENDS[0]) & (event <= ENDS[1])
        np.maximum.at(self.end, codes[ends], time[ends])

    def _from_tasks(self, codes: NDArray, index: NDArray, time: NDArray, event: NDArray) -> None:
        if not self.listed:
            self.submit = _least(self.count, codes, time, event == SUBMIT)
            other = _least(self.count, codes, time, event != SUBMIT)
            self.cut = (other >= 0) & ((other < self.submit) | (self.submit < 0))
        task = codes.astype(np.int64) << 32 | index
        self.tasks = np.bincount(np.unique(task) >> 32, minlength=self.count)
        matter = (event >= SCHEDULE) & (event <= ENDS[1]) & (time != AFTER) & (time > 0)
        task, time, event = task[matter], time[matter], event[matter]
        order = np.lexsort((time, task))  # stable: what happens at the same time stays in the order of the parts
        task, time, event = task[order], time[order], event[order]
        starts = event == SCHEDULE
        lived = (task[1:] == task[:-1]) & starts[:-1] & ~starts[1:]
        code = task[1:][lived] >> 32
        self.total = np.bincount(code, weights=(time[1:] - time[:-1])[lived], minlength=self.count)
        self.lives = np.bincount(code, minlength=self.count)
        self.start = _least(self.count, task >> 32, time, starts)
        self.open, self.headless = int(starts.sum() - lived.sum()), int((~starts).sum() - lived.sum())

    def reasons(self) -> NDArray[np.object_]:
        """[job] why it is skipped; "" = it is not."""
        run = self.total / np.maximum(self.tasks, 1) if self.tasked else (self.end - self.start).astype(float)
        rules = (
            ("before_window", (self.submit == 0) | self.cut),
            ("no_submit", self.submit < 0),
            ("no_tasks", (self.tasks == 0) & self.tasked),
            ("no_start", self.start < 0),
            ("no_end", (self.lives == 0) if self.tasked else (self.end < 0)),
            ("run_not_positive", (run <= 0) & (not self.tasked)),
            ("run_too_long", run > LATEST_US),
        )
        reasons = np.full(self.count, "", dtype=object)
        for reason, bad in reversed(rules):
            reasons[bad] = reason
        return reasons

    def size(self, rows: NDArray, ids: NDArray, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(workers, run ms) of these jobs."""
        if self.tasked:
            workers, run_us = self.tasks[rows], self.total[rows] / self.tasks[rows]
        else:
            workers = Draws(seed, [str(key) for key in ids.tolist()]).integer("requested_workers", WORKERS)
            run_us = (self.end - self.start)[rows].astype(float)
        return workers, np.maximum(1, np.rint(run_us / 1000)).astype(np.int64)

    def demand(self, rows: NDArray) -> NDArray[np.int64]:
        """[job, resource] of one worker: the most that any of its tasks asks for."""
        demand = np.full((len(rows), 5), -1, dtype=np.int64)
        share = self.found.request[rows]
        demand[:, 1:4] = np.where(share >= 0, np.rint(share * MAX_MACHINE), -1)
        return demand

    def known(self, rows: NDArray) -> dict[str, NDArray]:
        """Utility by scheduling class, and users."""
        kind = np.array(self.found.kind, dtype=np.int64)[rows]
        return {
            "utility_kind": np.where(kind >= 0, UTILITY_TYPES[kind], -1),
            "user": np.array(self.found.user, dtype=object)[rows],
        }

    def notes(self) -> list[str]:
        """The rules that were used."""
        cpu, memory, storage = (part // 1000 for part in MAX_MACHINE)
        work = (
            "Each distinct task index is a worker; the run time of a job is the total time of its tasks from SCHEDULE "
            "to EVICT, FAIL, FINISH, KILL or LOST, "
            f"divided by its workers. Dropped in these parts: {counted(self.open, 'start')} without an end, "
            f"{counted(self.headless, 'end')} without a start."
            if self.tasked
            else "No task_events: a job runs from SCHEDULE to its last end, and its workers are sampled from "
            f"{WORKERS[0]}-{WORKERS[1]}."
        )
        arrival = (
            "Jobs submitted before the window of the trace (time 0), or without a "
            "submission in the files, are not imported."
            if self.listed
            else "No job_events: a job arrives with the first SUBMIT of its tasks; jobs whose tasks start before these "
            "files are not imported."
        )
        size = (
            f"CPU, memory and disk are fractions of the largest server, which is assumed to have {cpu} vCPUs, "
            f"{memory} GB and {storage:,} GB; each worker has the largest request of any task of its job."
        )
        utility = "Utility by scheduling class: 0 insensitive, 1 and 2 sensitive, 3 critical."
        return [
            work,
            arrival,
            *([size] if self.tasked else []),
            utility,
            "Job jN has job id N; a job that is not imported is listed once, with its first row.",
        ]


def _joined(parts: Sequence[tuple]) -> list[NDArray]:
    """[codes, indices, times, events] of all parts, the earliest part first."""
    ordered = sorted(parts, key=lambda part: part[0])
    return [np.concatenate([part[at] for part in ordered]) for at in range(1, 5)]


def _least(count: int, codes: NDArray, time: NDArray, where: NDArray) -> NDArray[np.int64]:
    """[job] the earliest of these times, -1 where there is none."""
    least = np.full(count, AFTER, dtype=np.int64)
    np.minimum.at(least, codes[where], time[where])
    return np.where(least == AFTER, -1, least)
