"""Slurm accounting as `sacct -P` or `sacct -p` prints it: a header, then cells between `|`, in any choice and order.

Needed: JobID (or JobIDRaw), Submit, Start, State and one of End, Elapsed, ElapsedRaw. Used where they are there:
AllocTRES, ReqTRES, AllocCPUS, NCPUS, ReqCPUS, NNodes, ReqMem, Partition, User, Cluster. Cells are not quoted, so a `|`
in a job's name shifts its row; such a row is put right when that can be done in one way only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from twin.infra.counts import counted
from twin.traces.importers.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.importers.lines import chunks
from twin.traces.importers.sacct_cells import NULLS, duration_of, memory_of, moment_of, moments_of, state_of, tres_of
from twin.traces.importers.shapes import shapes
from twin.traces.importers.tables import Chunk

FORMAT = "sacct"
TITLE = "Slurm accounting (sacct -P)"
IDS, LENGTHS = ("JobID", "JobIDRaw"), ("ElapsedRaw", "Elapsed", "End")
NEEDED = ("Submit", "Start", "State")
OPTIONAL = ("AllocTRES", "ReqTRES", "AllocCPUS", "NCPUS", "ReqCPUS", "NNodes", "ReqMem", "Partition", "User", "Cluster",
            "TimelimitRaw", "Timelimit")  # fmt: skip
FREE = ("JobName", "SubmitLine")  # columns whose text may hold a |
ENDED = (
    "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "DEADLINE", "BOOT_FAIL",
    "REQUEUED", "REVOKED", "SPECIAL_EXIT", "LAUNCH_FAILED", "RECONFIG_FAIL",
)  # fmt: skip
WAITING = ("PENDING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD")
GOING = (
    "RUNNING",
    "SUSPENDED",
    "COMPLETING",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "POWER_UP_NODE",
    "UPDATE_DB",
)
STATES = {*ENDED, *WAITING, *GOING}
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
MAX_RUN_MS = 100 * 366 * 86_400_000  # a century
MAX_WORKERS = 1_000_000
LARGEST = 2.0**50


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header: cells between |, an id, times and a state."""
    names = _names(head)
    if "|" not in head.split(b"\n", 1)[0].decode("utf-8", "replace"):
        return False, "its first line has no | between cells, as in the output of sacct -P", 0.0
    missing = _missing(names)
    return not missing, f"the column {missing[0]} is missing" if missing else "the header fits", 1 - len(missing) / 5


def _names(head: bytes) -> list[str]:
    return [name.strip() for name in head.split(b"\n", 1)[0].decode("utf-8", "replace").split("|")]


def _missing(names: Sequence[str]) -> list[str]:
    missing = [] if any(name in names for name in IDS) else ["'JobID'"]
    missing += [repr(name) for name in NEEDED if name not in names]
    return missing + ([] if any(name in names for name in LENGTHS) else ["'End' (or 'Elapsed')"])


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; steps and requeued runs are merged into their jobs."""
    skipped, log = Skipped(), _Log()
    for source in sources:
        skipped.file = source.name
        _read_rows(source, options, log, skipped)
    log.skip_strays(skipped)
    if not log.keys:
        raise ImportRefused(f"{sources[0].name}: none of its {log.rows:,} rows can be imported; {skipped.first()}")
    return log.result(skipped)


@dataclass
class _Log:
    """Content of the rows, one entry per row of a job, not of a step."""

    rows: int = 0
    steps: int = 0
    mended: int = 0
    elapsed: bool = False
    parts: list[np.ndarray] = field(default_factory=list)  # [line, submit ms, run ms, GPUs, CPUs, MB, source]
    keys: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)  # ms; -1 where none is stated
    files: list[str] = field(default_factory=list)
    jobs: set[str] = field(default_factory=set)  # every job that has a row, imported or not
    strays: list[tuple[int, int, str]] = field(default_factory=list)  # (file, line, step) before its job
    words: dict[str, str] = field(default_factory=dict)

    def word(self, text: str) -> str:
        """Text of each queue and user, shared between rows; None if it cannot be displayed."""
        return self.words.setdefault(
            text, text if text.isprintable() and len(text) <= 200 and text not in NULLS else ""
        )

    def skip_strays(self, skipped: Skipped) -> None:
        """Steps whose job has no row at all."""
        for file, line, step in self.strays:
            if step.partition(".")[0] in self.jobs:
                self.steps += 1
            else:
                skipped.file = self.files[file]
                skipped.add(line, "no_job", step)

    def result(self, skipped: Skipped) -> Read:
        """The jobs by arrival."""
        import pandas as pd

        lines, submit, run, gpus, cpus, mb, file = np.concatenate(self.parts, axis=1)
        without = gpus == 0
        mixed = bool(without.any()) and not without.all()
        if mixed:
            for row in np.flatnonzero(without).tolist():
                skipped.file = self.files[int(file[row])]
                skipped.add(int(lines[row]), "no_gpu", self.keys[row])
        rows = np.flatnonzero(~without) if mixed else np.arange(len(self.keys))
        keys = self._keys()[rows]
        first_of, job = pd.factorize(keys)
        last = np.zeros(len(job), dtype=np.int64)
        np.maximum.at(last, first_of, np.arange(len(rows)))  # the row that says what the job needs
        arrival = np.full(len(job), np.iinfo(np.int64).max)
        np.minimum.at(arrival, first_of, submit[rows].astype(np.int64))
        run_ms = np.bincount(first_of, weights=run[rows]).astype(np.int64)
        order = np.lexsort((last, arrival))
        chosen = rows[last[order]]
        workers, demand = shapes(gpus[chosen], cpus[chosen], mb[chosen])
        zero = int(arrival.min())
        drafts = Drafts(
            keys=keys[last[order]], prefix="", arrival_ms=arrival[order] - zero, run_ms=run_ms[order],
            workers=workers, demand=demand,
            origins={"arrival_ms": "trace", "requested_workers": "trace", "worker": "derived", "group": "trace",
                     "user": "trace", "limit_ms": "trace"},
            known={name: np.array(words, dtype=object)[chosen]
                   for name, words in (("group", self.groups), ("user", self.users))}
            | {"limit_ms": np.array(self.limits)[chosen]},
        )  # fmt: skip
        again = len(rows) - len(job)
        return Read(
            self.rows,
            skipped,
            drafts,
            notes=self._notes(zero, bool(without.all()), skipped, again),
            merged=self.steps + again,
        )

    def _keys(self) -> np.ndarray:
        """The job ids, with the name of their cluster only where there are several."""
        keys = np.array(self.keys, dtype=object)
        clusters = {key.partition(":")[0] if ":" in key else "" for key in self.keys}
        return (
            keys
            if len(clusters) > 1 or clusters == {""}
            else np.array([key.partition(":")[2] for key in self.keys], dtype=object)
        )

    def _notes(self, zero: int, no_gpus: bool, skipped: Skipped, again: int) -> list[str]:
        notes = [
            "Times have no time zone and are used unchanged; the first is "
            f"{datetime.fromtimestamp(zero / 1000, UTC):%Y-%m-%d %H:%M:%S}.",
            "The run time is Elapsed, which excludes suspended time."
            if self.elapsed
            else "The run time is End - Start.",
        ]
        if no_gpus:
            notes.append(
                "No job states GPUs: one worker has 1 CPU and its share of the memory (one worker per job if CPUs are "
                "not stated either). If jobs had GPUs, export AllocTRES too."
            )
        else:
            notes.append("One worker has 1 GPU and its share of the job's CPUs and memory.")
            if skipped.counts["no_gpu"]:
                notes.append(
                    f"Not imported, because other jobs have GPUs: {counted(skipped.counts['no_gpu'], 'row')} of jobs "
                    "without GPUs."
                )
        if self.steps:
            notes.append(f"Merged into their jobs: {counted(self.steps, 'row')} of job steps; a job's own row counts.")
        if again:
            notes.append(
                f"Requeued: {counted(again, 'row')} with the id of an earlier row; such a job has the first Submit "
                "and the sum of its run times."
            )
        if self.mended:
            notes.append(f"Repaired: {counted(self.mended, 'row')} with a | in a job name or command.")
        return notes


def _read_rows(source: Source, options: ReadOptions, log: _Log, skipped: Skipped) -> None:
    names = _names(source.head)
    missing = _missing(names)
    if missing:
        raise ImportRefused(
            f"{source.name}: line 1: the column {missing[0]} is missing; export JobID,Submit,Start,End,State,AllocTRES"
        )
    log.files.append(source.name)
    shape = _Shape(names)
    heading = [name for name in names if name]
    for number, lines in chunks(source, options):
        numbers, rows = [], []
        for line, raw in enumerate(lines, number):
            if not raw.strip():
                continue
            cells = raw.decode("utf-8", "replace").split("|")
            if len(cells) != shape.width:
                cells, found = shape.mended(cells), len(cells)
                if cells:
                    log.mended += 1
                else:
                    log.rows += 1
                    skipped.add(
                        line, "too_few_cells" if found < shape.width else "too_many_cells", f"{found} of {shape.width}"
                    )
                    continue
            elif [cell.strip() for cell in cells if cell.strip()] == heading:
                continue  # the header, and again where outputs are put together
            log.rows += 1
            numbers.append(line)
            rows.append(cells)
        if rows:
            whole = list(zip(*rows, strict=True))
            columns = {name: [cell.strip() for cell in whole[at]] for name, at in shape.places.items()}
            _add(Chunk(np.array(numbers, dtype=np.int64), columns), log, skipped)


class _Shape:
    """Positions of the columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self.width, self.closed = len(names), not names[-1]
        wanted = (*IDS, *NEEDED, *LENGTHS, *OPTIONAL)
        self.places = {name: names.index(name) for name in wanted if name in names}
        self.free = sorted(names.index(name) for name in FREE if name in names)

    def mended(self, cells: list[str]) -> list[str]:
        """The cells with those that a | in a text made put together again; none where it is not clear how."""
        extra = len(cells) - self.width
        if extra == 1 and not self.closed and not cells[-1].strip():
            return cells[:-1]  # the header has no | at its end, the row has one
        if not 0 < extra <= 100 or not self.free:
            return []
        found = []
        for more in range(extra + 1) if len(self.free) > 1 else [extra]:
            joined = list(cells)
            for at, count in zip(self.free, (more, extra - more), strict=False):
                joined[at : at + count + 1] = ["|".join(joined[at : at + count + 1])]
            if self._fits(joined):
                found.append(joined)
        return found[0] if len(found) == 1 else []

    def _fits(self, cells: list[str]) -> bool:
        return state_of(cells[self.places["State"]]) in STATES and all(
            not math.isnan(moment_of(cells[self.places[name]].strip())) or cells[self.places[name]].strip() in NULLS
            for name in ("Submit", "Start")
        )


def _add(chunk: Chunk, log: _Log, skipped: Skipped) -> None:
    """Addition of the rows of a batch: steps counted, jobs sifted."""
    columns = dict(chunk.columns)
    ids = columns["JobID"] if "JobID" in columns else columns["JobIDRaw"]
    if "Cluster" in columns:
        ids = [
            name if cluster in NULLS else f"{cluster}:{name}"
            for name, cluster in zip(ids, columns["Cluster"], strict=True)
        ]
    columns["id"] = ids
    is_step = np.array(["." in name for name in ids], dtype=bool)
    log.jobs.update(name for name, step in zip(ids, is_step.tolist(), strict=True) if not step)
    for i in np.flatnonzero(is_step).tolist():
        if ids[i].partition(".")[0] in log.jobs:
            log.steps += 1
        else:
            log.strays.append((len(log.files) - 1, int(chunk.lines[i]), ids[i]))
    at = np.flatnonzero(~is_step)
    jobs = Chunk(chunk.lines[at], {name: [cells[i] for i in at.tolist()] for name, cells in columns.items()})
    good, run, submit = _sift(jobs, log, skipped)
    gpus, cpus, mb = _amounts(jobs)
    numbers = np.stack([jobs.lines, submit, run, gpus, cpus, mb, np.full(len(at), len(log.files) - 1)])
    huge = good & ((gpus > MAX_WORKERS) | ((gpus == 0) & (cpus > MAX_WORKERS)))
    good &= jobs.sift(skipped, (("too_many_gpus", huge, "id"),))
    log.parts.append(numbers[:, good])
    kept = np.flatnonzero(good).tolist()
    blank = [""] * len(at)
    log.keys += [jobs.columns["id"][i] for i in kept]
    log.groups += [log.word(jobs.columns.get("Partition", blank)[i]) for i in kept]
    log.users += [log.word(jobs.columns.get("User", blank)[i]) for i in kept]
    log.limits += _limits(jobs)[good].tolist()


def _sift(jobs: Chunk, log: _Log, skipped: Skipped) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of jobs that ran; run ms and submit ms of every row."""
    columns = jobs.columns
    states = [state_of(cell) for cell in columns["State"]]
    submit, start = moments_of(columns["Submit"]), moments_of(columns["Start"])
    end = moments_of(columns["End"]) if "End" in columns else np.full(len(states), math.nan)
    run = end - start
    if "ElapsedRaw" in columns or "Elapsed" in columns:
        log.elapsed = True
        elapsed = (
            jobs.numbers("ElapsedRaw") * 1000
            if "ElapsedRaw" in columns
            else np.array(list(map(duration_of, columns["Elapsed"])))
        )
        run = np.where(np.isnan(elapsed), run, elapsed)
    has = {name: np.array([cell not in NULLS for cell in columns[name]], dtype=bool) for name in ("Submit", "Start")}
    ends = np.array([cell not in NULLS for cell in columns["End"]], dtype=bool) if "End" in columns else ~np.isnan(run)
    length = next(name for name in (*LENGTHS[::-1],) if name in columns)
    good = jobs.sift(skipped, (
        ("unreadable_name", np.array([not NAME.fullmatch(name) for name in columns["id"]], dtype=bool), "id"),
        ("unknown_status", np.array([state not in STATES for state in states], dtype=bool), "State"),
        ("pending", np.array([state in WAITING for state in states], dtype=bool), "State"),
        ("no_start", ~has["Start"], "State"),
        ("no_end", np.array([state in GOING for state in states], dtype=bool) | (~ends & np.isnan(run)), "State"),
        ("unreadable_submit", np.isnan(submit), "Submit"),
        ("unreadable_start", np.isnan(start), "Start"),
        ("unreadable_end", np.isnan(run), length),
        ("run_not_positive", run < 1, length),
        ("run_too_long", run > MAX_RUN_MS, length),
    ))  # fmt: skip
    return good, run, submit


def _limits(jobs: Chunk) -> np.ndarray:
    """Time limits in ms; -1 where a job has none, such as UNLIMITED or Partition_Limit."""
    if "TimelimitRaw" in jobs.columns:
        limits = jobs.numbers("TimelimitRaw") * 60_000
    else:
        limits = np.array([duration_of(cell) for cell in jobs.columns.get("Timelimit", [""] * len(jobs.lines))])
    return np.where((limits >= 1) & (limits <= MAX_RUN_MS), limits, -1)


def _amounts(jobs: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """GPUs, CPUs and MB of each job: what it held, else what it requested; NaN = unknown."""
    columns = jobs.columns
    none = np.full(len(jobs.lines), math.nan)
    gpus, cpus, mb = none.copy(), none.copy(), none.copy()
    for name in ("AllocTRES", "ReqTRES"):
        if name in columns:
            known: dict[str, tuple[float, float, float]] = {}
            found = [
                known.setdefault(cell, tres_of(cell)) if cell not in known else known[cell] for cell in columns[name]
            ]
            amounts = np.array(found, dtype=float).reshape(-1, 3).T
            stated = ~np.isnan(gpus) | ~np.isnan(cpus)
            gpus = np.where(stated, gpus, amounts[0])
            cpus = np.where(np.isnan(cpus), amounts[1], cpus)
            mb = np.where(np.isnan(mb), amounts[2], mb)
    for name in ("AllocCPUS", "NCPUS", "ReqCPUS"):
        if name in columns:
            amounts = jobs.numbers(name)
            cpus = np.where(np.isnan(cpus) & (amounts > 0) & (amounts < LARGEST), amounts, cpus)
    if "ReqMem" in columns:
        nodes = jobs.numbers("NNodes") if "NNodes" in columns else np.ones(len(none))
        each = [memory_of(cell) for cell in columns["ReqMem"]]
        factor = np.select(
            [np.array([per == unit for _, per in each], dtype=bool) for unit in "nc"], [nodes, cpus], 1.0
        )
        asked = np.array([amount for amount, _ in each], dtype=float) * factor
        mb = np.where(np.isnan(mb) & (asked > 0) & (asked < LARGEST), asked, mb)
    return np.nan_to_num(gpus), np.floor(cpus), mb
