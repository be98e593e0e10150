"""Jobs of Alibaba PAI (v2020), folded from the job, task, instance and group tag tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.pai_tables import STATUSES
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Source
from twin.traces.uploads.tables import Portion

ENDED = ("Terminated", "Failed")
ROLES = {"ps": 2, "evaluator": 1}  # every other one is a worker, 0
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
LATEST_S = 100 * 366 * 86_400  # a century
MAX_INSTANCES = 1_000_000
MAX_PLANNED = 2.0**31 - 1  # thousandths, of an instance


@dataclass
class Tasks:
    """Portions of columns, one entry a task: job, role, instances, milli-GPU, milli-CPU, MB (-1 = not known)."""

    parts: list[NDArray[np.int32]] = field(default_factory=list)

    def by_job(self) -> list[NDArray[np.int32]]:
        """The columns, with each job's tasks together, the main one first: workers, then by GPUs, then instances."""
        columns = [np.concatenate([part[at] for part in self.parts] or [np.empty(0, np.int32)]) for at in range(6)]
        self.parts.clear()
        job, role, count, gpu = columns[:4]
        order = np.lexsort((-count, -(count * np.maximum(gpu, 0).astype(np.int64)), role, job))
        return [column[order] for column in columns]


class Jobs:
    """Fold of the tables to one entry per job, in the order of the job table."""

    def __init__(self, found: Read, options: ReadOptions) -> None:
        self.found, self.options = found, options
        self.places: dict[str, int] = {}  # of the jobs that can be used so far; -1 where a job is skipped
        self.names: list[str] = []
        self.users: list[str] = []
        self.words: dict[str, str] = {}
        self.files: list[str] = []
        self.parts: list[np.ndarray] = []  # [submitted s, end s, line, file, ended]
        self.inst_ids: list[np.ndarray] = []  # hashes
        self.tasks = Tasks()
        self.times: dict[str, np.ndarray] = {}  # name: s of each job, NaN = not known
        self.models: np.ndarray | None = None
        self.unknown_gpus = 0

    def add(self, portion: Portion, file: str) -> None:
        """Rows of the job table."""
        if file not in self.files[-1:]:
            self.files.append(file)
        names, status = portion.columns["job_name"], portion.columns["status"]
        start, end = portion.numbers("start_time"), portion.numbers("end_time")
        repeated = np.zeros(len(names), dtype=bool)
        for i, name in enumerate(names):
            repeated[i] = name in self.places
            self.places.setdefault(name, -1)
        empty = np.array([not cell for cell in portion.columns["start_time"]], dtype=bool)
        good = portion.sift(self.found.skipped, (
            ("unreadable_name", np.array([not NAME.fullmatch(name) for name in names], dtype=bool), "job_name"),
            ("duplicate_id", repeated, "job_name"),
            ("unknown_status", np.array([word not in STATUSES for word in status], dtype=bool), "status"),
            ("no_start", empty, "status"),
            ("unreadable_start_time", ~((start >= 0) & (start <= LATEST_S)), "start_time"),
            ("unreadable_end_time", _unreadable(portion, "end_time", end, LATEST_S), "end_time"),
            ("no_end", np.isnan(end) & np.array([word not in ENDED for word in status], dtype=bool), "status"),
        ))  # fmt: skip
        kept = np.flatnonzero(good)
        for place, i in enumerate(kept.tolist(), len(self.names)):
            self.places[names[i]] = place
        self.names += [names[i] for i in kept.tolist()]
        self.users += [self._word(portion.columns["user"][i]) for i in kept.tolist()]
        self.inst_ids.append(_hashes([portion.columns["inst_id"][i] for i in kept.tolist()]))
        self.parts.append(
            np.stack([start[kept], end[kept], portion.lines[kept], np.full(len(kept), len(self.files) - 1)])
        )

    def _word(self, text: str) -> str:
        return self.words.setdefault(text, text if text.isprintable() and len(text) <= 200 else "")

    def _of_jobs(self, portion: Portion) -> tuple[Portion, NDArray[np.int64]]:
        """The rows whose job can be used, with its place. Rows of skipped jobs are merged, those of no job skipped."""
        places = np.array([self.places.get(name, -2) for name in portion.columns["job_name"]], dtype=np.int64)
        portion.sift(self.found.skipped, (("no_job", places == -2, "job_name"),))
        self.found.merged += int((places == -1).sum())
        at = np.flatnonzero(places >= 0)
        if len(at) < len(places):
            portion = Portion(
                portion.lines[at], {name: [cells[i] for i in at.tolist()] for name, cells in portion.columns.items()}
            )
        return portion, places[at]

    def _time(self, name: str) -> np.ndarray:
        return self.times.setdefault(name, np.full(len(self.names), np.nan))

    def add_tasks(self, portion: Portion, _: str) -> None:
        """Rows of the task table."""
        portion, job = self._of_jobs(portion)
        count, start, end = portion.numbers("inst_num"), portion.numbers("start_time"), portion.numbers("end_time")
        cpu, mb, gpu = (
            portion.numbers(name) * scale for name, scale in (("plan_cpu", 10), ("plan_mem", 1000), ("plan_gpu", 10))
        )
        good = portion.sift(self.found.skipped, (
            ("unreadable_inst_num", ~((count >= 1) & (count <= MAX_INSTANCES) & (count == np.floor(count))),
             "inst_num"),
            ("unreadable_start_time", _unreadable(portion, "start_time", start, LATEST_S), "start_time"),
            ("unreadable_end_time", _unreadable(portion, "end_time", end, LATEST_S), "end_time"),
            *((f"unreadable_{name}", _unreadable(portion, name, amount, MAX_PLANNED), name)
              for name, amount in (("plan_cpu", cpu), ("plan_mem", mb), ("plan_gpu", gpu))),
        ))  # fmt: skip
        types = portion.columns["gpu_type"]
        no_gpu = np.isnan(gpu) & np.array([word in ("", "CPU") for word in types], dtype=bool)
        self.unknown_gpus += int((np.isnan(gpu) & ~no_gpu & good).sum())
        gpu = np.where(no_gpu, 0, gpu)
        role = np.array([ROLES.get(name.lower(), 0) for name in portion.columns["task_name"]], dtype=float)
        numbers = np.stack(
            [job, role, count, *(np.where(np.isnan(amount), -1, np.rint(amount)) for amount in (gpu, cpu, mb))]
        )
        self.tasks.parts.append(numbers[:, good].astype(np.int32))
        np.fmin.at(self._time("task start"), job[good], start[good])
        np.fmax.at(self._time("task end"), job[good], end[good])
        self.found.merged += int(good.sum())

    def add_instances(self, portion: Portion, _: str) -> None:
        """Rows of the instance table; those with both times count."""
        portion, job = self._of_jobs(portion)
        start, end = portion.numbers("start_time"), portion.numbers("end_time")
        good = portion.sift(self.found.skipped, (
            ("unreadable_start_time", _unreadable(portion, "start_time", start, LATEST_S), "start_time"),
            ("unreadable_end_time", _unreadable(portion, "end_time", end, LATEST_S), "end_time"),
        ))  # fmt: skip
        self.found.merged += int(good.sum())
        good &= ~(np.isnan(start) | np.isnan(end))
        np.fmin.at(self._time("instance start"), job[good], start[good])
        np.fmax.at(self._time("instance end"), job[good], end[good])

    def add_tags(self, portion: Portion, _: str) -> None:
        """Rows of the group tag table: the model of the job with this inst_id; the first tag counts."""
        if self.models is None:
            self.models = np.full(len(self.names), "", dtype=object)
            ids = np.concatenate(self.inst_ids)
            self.by_id = np.argsort(ids, kind="stable")
            self.sorted_ids = ids[self.by_id]
        wanted = _hashes(portion.columns["inst_id"])
        low = np.searchsorted(self.sorted_ids, wanted, side="left")
        high = np.searchsorted(self.sorted_ids, wanted, side="right")
        known = high > low
        portion.sift(self.found.skipped, (("no_job", ~known, "inst_id"),))
        self.found.merged += int(known.sum())
        for row in np.flatnonzero(known).tolist():
            model = _model(portion.columns["workload"][row])
            for place in self.by_id[low[row] : high[row]].tolist() if model else ():
                self.models[place] = self.models[place] or self.words.setdefault(model, model)

    def finish(self, tables: dict[str, list[Source]]) -> None:
        """Drafts and notes."""
        submitted, end, lines, file = np.concatenate(self.parts, axis=1) if self.parts else np.empty((4, 0))
        for used in (self.places, self.parts, self.inst_ids):
            used.clear()
        job, role, count, gpu, cpu, mb = self.tasks.by_job()
        has_task = np.zeros(len(submitted), dtype=bool)
        has_task[job] = True
        start = self._time("task start")
        end = np.where(np.isnan(end), self._time("task end"), end)
        by_task = end - start
        by_instance = self._time("instance end") - self._time("instance start")
        run = np.where(np.isnan(by_instance), by_task, by_instance)
        good = self._sift(np.stack([lines, file]), (
            ("no_task", ~has_task),
            ("no_start", np.isnan(run) & np.isnan(start)),
            ("no_end", np.isnan(run)),
            ("run_not_positive", run < 0.001),
        ))  # fmt: skip
        if not good.any():
            first = tables["job"][0].name
            raise self.found.skipped.nothing(first, self.found.rows)
        main = np.searchsorted(job, np.arange(len(submitted))) if len(job) else np.zeros(len(submitted), dtype=np.int64)
        main = np.minimum(main, len(job) - 1)
        alike = (role == 0) & (role[main][job] == 0) & (gpu == gpu[main][job])
        workers = np.bincount(job[alike], weights=count[alike], minlength=len(submitted)).astype(np.int64)
        alone = workers == 0  # a job of parameter servers or evaluators only
        workers = np.where(alone, count[main], workers)
        is_ps = (role == ROLES["ps"]) & (role[main][job] != ROLES["ps"])
        servers = np.bincount(job[is_ps], weights=count[is_ps], minlength=len(submitted))
        of_ps = np.flatnonzero(is_ps)[::-1]
        server = np.full(len(submitted), -1, dtype=np.int64)
        server[job[of_ps]] = of_ps  # the largest is written last
        order = np.flatnonzero(good)[np.argsort(submitted[good], kind="stable")]
        demand, ps = (np.full((len(order), 5), -1, dtype=np.int64) for _ in range(2))
        has_ps = server[order] >= 0
        for column, amounts in enumerate((gpu, cpu, mb)):
            demand[:, column] = amounts[main[order]]
            ps[has_ps, column] = amounts[server[order][has_ps]]
        ratio = workers[order] / np.where(servers[order] > 0, servers[order], np.nan)
        arrival = np.rint(submitted[order] * 1000).astype(np.int64)
        known = {"ps": ps, "workers_per_ps": ratio, "user": np.array(self.users, dtype=object)[order]}
        if self.models is not None:
            known["model"] = self.models[order]
        self.found.drafts = Drafts(
            keys=np.array(self.names, dtype=object)[order], prefix="", arrival_ms=arrival - arrival[0],
            run_ms=np.rint(run[order] * 1000).astype(np.int64), workers=workers[order], demand=demand,
            origins=dict.fromkeys(("arrival_ms", "requested_workers", "worker", *known), "trace"),
            known=known,
        )  # fmt: skip
        others = np.bincount(job, weights=~(alike | is_ps), minlength=len(submitted)) > alone
        self._notes(order, by_task, by_instance, servers, int((others & good).sum()))

    def _sift(self, places: np.ndarray, reasons: Sequence[tuple[str, np.ndarray]]) -> np.ndarray:
        """Good jobs; the others are reported with the line of their row in the job table."""
        good = np.ones(places.shape[1], dtype=bool)
        for reason, bad in reasons:
            for place in np.flatnonzero(good & bad).tolist():
                self.found.skipped.file = self.files[int(places[1, place])]
                self.found.skipped.add(int(places[0, place]), reason, self.names[place])
            good &= ~bad
        return good

    def _notes(
        self, order: np.ndarray, by_task: np.ndarray, by_instance: np.ndarray, servers: np.ndarray, others: int
    ) -> None:
        refined = ~np.isnan(by_instance[order])
        changed = int((refined & (by_instance[order] != by_task[order])).sum())
        notes = [
            "Times are seconds minus a constant: only weekday and time of day (UTC+8) are "
            "meaningful. job.start_time is the submission.",
            "The run time is the end of the job minus the earliest start of its tasks (or the end of "
            "the last task, if the job has none).",
        ]
        if "instance start" in self.times:
            notes.append(
                "For jobs whose instances have both times, it is the last end minus the first start: "
                f"{counted(int(refined.sum()), 'job')}, with a different result for {changed:,}."
            )
        notes.append(
            "The workers are the instances of the task with the largest GPU request, and of tasks with the same number "
            "of GPUs per instance; ps tasks are the "
            f"parameter servers of {counted(int((servers[order] > 0).sum()), 'job')}. Not imported are other tasks "
            f"(evaluator, tracker, ...) of {counted(others, 'job')}."
        )
        if self.unknown_gpus:
            notes.append(f"GPUs are sampled for {counted(self.unknown_gpus, 'task')} with a GPU type but no plan_gpu.")
        self.found.notes += notes


def _unreadable(portion: Portion, name: str, values: np.ndarray, most: float) -> np.ndarray:
    """Cells that hold something else than a number from 0 to most."""
    filled = np.array([bool(cell) for cell in portion.columns[name]], dtype=bool)
    return filled & ~((values >= 0) & (values <= most))


def _hashes(cells: Sequence[str]) -> np.ndarray:
    """64 bits of each text: a million long ids take 8 MB."""
    import pandas as pd

    return np.asarray(pd.util.hash_array(np.array(cells, dtype=object), categorize=False), dtype=np.uint64)


def _model(text: str) -> str:
    """Name of a GPU model in lower-case ASCII with - and . only."""
    return re.sub(r"[^a-z0-9.-]+", "-", text.lower()).strip("-")[:100]
