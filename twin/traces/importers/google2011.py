"""Google cluster data 2011: headerless parts of job_events (8 columns) and task_events (13), any of them in any order.

A job arrives with its SUBMIT in job_events; with task_events alone, with the first SUBMIT of its tasks. A job submitted
before the window (time 0), or whose tasks begin before the parts at hand, is skipped as before_window: nothing says
when it arrived or what it had done by then. Each distinct task index is a worker. A task runs from SCHEDULE to EVICT,
FAIL, FINISH, KILL or LOST, as often as it runs; a start without an end, and an end without a start, are dropped. Run
time = that sum over all tasks / workers, which keeps the work; a job without a task in these parts is skipped. With
job_events alone, run time = last end - first SCHEDULE, and the workers are sampled from 1-30 (PD-ORS' baselines).

A skipped job is reported once, at its first row, and its other rows are merged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.google_events import (
    AFTER,
    JOB,
    LAST_EVENT,
    LATEST_US,
    PLACES,
    TASK,
    UTILITY_TYPES,
    Found,
    Part,
)
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.synthesis import Draws
from twin.traces.uploads.lines import first_lines

FORMAT = "google2011"
TITLE = "Google cluster data 2011 (job_events, task_events)"
TIME_UNIT = "us"
SUBMIT, SCHEDULE, ENDS = 0, 1, (2, 6)  # UPDATE_PENDING and UPDATE_RUNNING change nothing here
MAX_MACHINE = (64_000, 256_000, 4_000_000)  # thousandths of vCPU, GB memory, GB storage
WORKERS = (1, 30)  # sampled where there is no task table


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
    skipped, found = Skipped(), Found()
    for number, source in enumerate(sources):
        width = len((first_lines(source.head, 1) or [b""])[0].split(b","))
        if width not in PLACES:
            raise ImportRefused(
                f"{source.name}: line 1: {width} cells; job_events have {JOB} and task_events {TASK}, without a header"
            )
        Part(source, number, width, skipped, found).read(options)
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


class _Jobs:
    """Jobs from the events of all parts. tasked: whether there is a task table. Times in us, -1 = none."""

    def __init__(self, found: Found) -> None:
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
