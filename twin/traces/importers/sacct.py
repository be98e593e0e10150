"""Slurm accounting as `sacct -P` or `sacct -p` prints it: a header, then cells between `|`, in any choice and order.

Needed: JobID (or JobIDRaw), Submit, Start, State and one of End, Elapsed, ElapsedRaw. Used where they are there:
AllocTRES, ReqTRES, AllocCPUS, NCPUS, ReqCPUS, NNodes, ReqMem, Partition, User, Cluster. Cells are not quoted, so a `|`
in a job's name shifts its row; such a row is corrected if there is exactly one way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.accounting import MAX_NUMBER, MAX_RUN_MS, MAX_WORKERS, NAME, Accounts
from twin.traces.importers._shared.sacct_cells import (
    NULLS,
    duration_of,
    memory_of,
    moment_of,
    moments_of,
    state_of,
    tres_of,
)
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.importing.reading import Reading
from twin.traces.uploads.lines import portions
from twin.traces.uploads.tables import Portion

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
RULER = re.compile(rb"-+( -+)+")  # below a header of fixed width


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header: cells between |, an id, times and a state."""
    names = _names(head)
    if "|" not in head.split(b"\n", 1)[0].decode("utf-8", "replace"):
        if RULER.fullmatch([*head.splitlines(), b"", b""][1].strip()) and b"JobID" in head.split(b"\n", 1)[0]:
            return False, "its columns have a fixed width; export it with sacct -P (--parsable2)", 0.95
        return False, "its first line has no | between cells, as in the output of sacct -P", 0.0
    missing = _missing(names)
    if len(missing) > 3 and len({state_of(name) for name in names} & STATES) == 1:
        return False, "the first line is a job, not a header; export it without --noheader (-n)", 0.95
    return not missing, f"the column {missing[0]} is missing" if missing else "the header fits", 1 - len(missing) / 5


def _names(head: bytes) -> list[str]:
    return [name.strip() for name in head.split(b"\n", 1)[0].decode("utf-8", "replace").split("|")]


def _missing(names: Sequence[str]) -> list[str]:
    missing = [] if any(name in names for name in IDS) else ["'JobID'"]
    missing += [repr(name) for name in NEEDED if name not in names]
    return missing + ([] if any(name in names for name in LENGTHS) else ["'End' (or 'Elapsed')"])


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; steps and requeued runs are merged into their jobs."""
    skipped, log = Skipped(), _Log(options.reading)
    for source in sources:
        skipped.file = source.name
        _read_rows(source, options, log, skipped)
    log.skip_strays(skipped)
    return log.read(sources, log.rows, skipped, log.notes(), log.steps)


class _Log(Accounts):
    """Content of the rows, one entry per row of a job, not of a step."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading, local=True)
        self.rows = self.steps = self.repaired = 0
        self.elapsed = False
        self.jobs: set[str] = set()  # every job that has a row, imported or not
        self.strays: list[tuple[int, int, str]] = []  # (file, line, step) before its job

    def skip_strays(self, skipped: Skipped) -> None:
        """Steps whose job has no row at all."""
        for file, line, step in self.strays:
            if step.partition(".")[0] in self.jobs:
                self.steps += 1
            else:
                skipped.file = self.files[file]
                skipped.add(line, "no_job", step)

    def notes(self) -> list[str]:
        """Rules that are Slurm's."""
        notes = [
            "The run time is Elapsed, which excludes suspended time."
            if self.elapsed
            else "The run time is End - Start."
        ]
        if self.steps:
            notes.append(f"Merged into their jobs: {counted(self.steps, 'row')} of job steps; a job's own row counts.")
        if self.repaired:
            notes.append(f"Repaired: {counted(self.repaired, 'row')} with a | in a job name or command.")
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
    for number, lines in portions(source, options):
        numbers, rows = [], []
        for line, raw in enumerate(lines, number):
            if not raw.strip():
                options.others.count += 1
                continue
            cells = raw.decode("utf-8", "replace").split("|")
            if len(cells) != shape.width:
                cells, found = shape.repaired(cells), len(cells)
                if cells:
                    log.repaired += 1
                else:
                    log.rows += 1
                    skipped.add(
                        line, "too_few_cells" if found < shape.width else "too_many_cells", f"{found} of {shape.width}"
                    )
                    continue
            elif [cell.strip() for cell in cells if cell.strip()] == heading:
                options.others.count += 1  # the header, and again where outputs are put together
                continue
            log.rows += 1
            numbers.append(line)
            rows.append(cells)
        if rows:
            whole = list(zip(*rows, strict=True))
            columns = {name: [cell.strip() for cell in whole[at]] for name, at in shape.places.items()}
            _add(Portion(np.array(numbers, dtype=np.int64), columns), log, skipped)


class _Shape:
    """Positions of the columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self.width, self.closed = len(names), not names[-1]
        wanted = (*IDS, *NEEDED, *LENGTHS, *OPTIONAL)
        self.places = {name: names.index(name) for name in wanted if name in names}
        self.free = sorted(names.index(name) for name in FREE if name in names)

    def repaired(self, cells: list[str]) -> list[str]:
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


def _add(portion: Portion, log: _Log, skipped: Skipped) -> None:
    """Addition of the rows of a batch: steps counted, jobs sifted."""
    columns = dict(portion.columns)
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
            log.strays.append((len(log.files) - 1, int(portion.lines[i]), ids[i]))
    at = np.flatnonzero(~is_step)
    jobs = Portion(portion.lines[at], {name: [cells[i] for i in at.tolist()] for name, cells in columns.items()})
    good, run, submit = _sift(jobs, log, skipped)
    gpus, cpus, mb = _amounts(jobs)
    numbers = np.stack([jobs.lines, submit, run, gpus, cpus, mb, _limits(jobs), np.full(len(at), len(log.files) - 1)])
    huge = good & ((gpus > MAX_WORKERS) | ((gpus == 0) & (cpus > MAX_WORKERS)))
    good &= jobs.sift(skipped, (("too_many_gpus", huge, "id"),))
    log.parts.append(numbers[:, good])
    kept = np.flatnonzero(good).tolist()
    blank = [""] * len(at)
    log.keys += [jobs.columns["id"][i] for i in kept]
    log.groups += [log.word(_known(jobs.columns.get("Partition", blank)[i])) for i in kept]
    log.users += [log.word(_known(jobs.columns.get("User", blank)[i])) for i in kept]


def _known(text: str) -> str:
    return "" if text in NULLS else text


def _sift(jobs: Portion, log: _Log, skipped: Skipped) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of jobs that ran; run ms and submit ms of every row."""
    columns = jobs.columns
    states = [state_of(cell) for cell in columns["State"]]
    submit, start = (moments_of(columns[name], log.reading) for name in ("Submit", "Start"))
    end = moments_of(columns["End"], log.reading) if "End" in columns else np.full(len(states), math.nan)
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


def _limits(jobs: Portion) -> np.ndarray:
    """Time limits in ms; -1 where a job has none, such as UNLIMITED or Partition_Limit."""
    if "TimelimitRaw" in jobs.columns:
        limits = jobs.numbers("TimelimitRaw") * 60_000
    else:
        limits = np.array([duration_of(cell) for cell in jobs.columns.get("Timelimit", [""] * len(jobs.lines))])
    return np.where((limits >= 1) & (limits <= MAX_RUN_MS), limits, -1)


def _amounts(jobs: Portion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
            cpus = np.where(np.isnan(cpus) & (amounts > 0) & (amounts < MAX_NUMBER), amounts, cpus)
    if "ReqMem" in columns:
        nodes = jobs.numbers("NNodes") if "NNodes" in columns else np.ones(len(none))
        each = [memory_of(cell) for cell in columns["ReqMem"]]
        factor = np.select(
            [np.array([per == unit for _, per in each], dtype=bool) for unit in "nc"], [nodes, cpus], 1.0
        )
        asked = np.array([amount for amount, _ in each], dtype=float) * factor
        mb = np.where(np.isnan(mb) & (asked > 0) & (asked < MAX_NUMBER), asked, mb)
    return np.nan_to_num(gpus), np.floor(cpus), mb
