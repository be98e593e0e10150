"""Standard Workload Format: `;` header lines, then at least 18 numbers a job; and `.machines` files, a table of nodes.

-1 = unknown in any field. Workers = processors that the job used, or asked for where that is unknown, which keeps the
work. Each has 1 CPU and no GPU, and so has a parameter server. The row count of the header is not trusted. A row of
status 2, 3 or 4 that repeats an id is a part of that job: merged into its summary, or added up where there is none. The
cluster comes from the `.machines` file, otherwise from MaxNodes and MaxProcs.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scheduling.model.values import CPU, GPU, MAX_SERVERS, MEMORY, Cluster
from scheduling.reporting.quantities import counted
from twin.files.swf import MARK
from twin.moments import moment_utc
from twin.traces.importers._shared.machines import MAX_NUMBER, Machine, to_cluster
from twin.traces.importers._shared.swf_nodes import (
    KB_TO_MB,
    ONE_CPU,
    SUFFIX,
    are_nodes,
    is_comment,
    is_number,
    read_nodes,
)
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.lines import first_lines, floats, portions

FORMAT = "swf"
TITLE = "Standard Workload Format"
TIME_UNIT = "s"
COLUMNS = (
    "id", "submit", "wait", "run", "procs", "cpu_time", "memory", "requested_procs", "requested_time",
    "requested_memory", "status", "user", "group", "executable", "queue", "partition", "preceding", "think_time",
)  # fmt: skip
USED = (
    "id",
    "submit",
    "run",
    "procs",
    "memory",
    "requested_procs",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "queue",
    "partition",
)
KEY = re.compile(rb";?\s*([A-Za-z]+)\s*:\s*(.*)")
PARTS = (2, 3, 4)  # statuses of a part of a job
LATEST_S, MAX_RUN_S = 200 * 366 * 86_400, 100 * 366 * 86_400
MAX_PROCS = 10_000_000
SAMPLE = 400  # lines that a sniff reads
MAX_HEADERS = 60  # lines before the first job
WIDE = b"0 " * len(COLUMNS)  # a row that shows the parser all columns, where rows are short


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): lines of 18 numbers, or of 6 cells of a machine, below what may be a header."""
    if MARK in head:
        return False, "its comments contain jobs: it is a jobs.swf of the twin", 0.9
    lines = first_lines(head, SAMPLE)
    body = [line for line in lines if not is_comment(line)]
    commented = bool(lines) and is_comment(lines[0]) and any(KEY.match(line.strip()) for line in lines[:MAX_HEADERS])
    if are_nodes(body):
        return True, "the lines are those of a .machines file", 1.0
    jobs = [_is_job(line) for line in body]
    if True not in jobs[:MAX_HEADERS]:
        return (
            commented and not body,
            f"no line after the header is {len(COLUMNS)} numbers separated by spaces",
            0.5 * commented,
        )
    jobs = jobs[jobs.index(True) :]
    fits = 2 * sum(jobs) >= len(jobs)
    why = (
        "the lines are jobs"
        if fits
        else f"only {sum(jobs):,} of {counted(len(jobs), 'line')} are {len(COLUMNS)} numbers"
    )
    return fits, why, sum(jobs) / len(jobs)


def _is_job(line: bytes) -> bool:
    cells = line.split()
    return len(cells) >= len(COLUMNS) and all(map(is_number, cells[: len(COLUMNS)]))


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs, and machines where they are known."""
    skipped = Skipped()
    tables = [
        source
        for source in sources
        if source.name.endswith(SUFFIX)
        or are_nodes([line for line in first_lines(source.head, SAMPLE) if not is_comment(line)])
    ]
    logs = [_Log(number, source, skipped) for number, source in enumerate(s for s in sources if s not in tables)]
    blocks = [block for log in logs for block in log.blocks(options)]
    nodes, node_rows, used_rows = read_nodes(tables, skipped, options)
    rows = sum(log.rows for log in logs) + node_rows
    drafts, merged = _drafts(logs, np.concatenate(blocks), skipped) if blocks else (None, 0)
    if drafts is None and not nodes:
        raise skipped.nothing(sources[0].name, rows)
    if drafts is not None:
        merged += used_rows
    notes = _notes(logs) if drafts is not None else []
    cluster: Cluster | None = None
    if nodes:
        cluster, stated = to_cluster(safe_name(tables[0].name), nodes, options, tables[0].name)
        notes += stated
    else:
        for log in logs:
            if machines := log.machines():
                cluster, stated = to_cluster(safe_name(log.source.name), machines, options, log.source.name)
                cpus = sum(machine.cpu or 0 for machine in machines) // ONE_CPU
                notes += [
                    f"The header gives {counted(len(machines), 'server')} with {counted(cpus, 'processor')} in total.",
                    *stated,
                ]
                break
    return Read(rows, skipped, drafts=drafts, cluster=cluster, notes=notes, merged=merged)


# One good row of a log. number: of the row in all logs; group: 2 x queue, 2 x partition + 1, or -1.
ROW = np.dtype([
    ("id", np.int64), ("submit", np.float64), ("run", np.float64), ("procs", np.int32), ("memory", np.int32),
    ("limit", np.float64), ("status", np.int8), ("user", np.int32), ("group", np.int32), ("log", np.int16),
    ("line", np.int32),
])  # fmt: skip


@dataclass
class _Log:
    """File of jobs. header: {key: value} of its header lines; bare: header lines that lack the semicolon."""

    number: int
    source: Source
    skipped: Skipped
    rows: int = 0
    bare: int = 0
    begun: bool = False  # the header is over
    header: dict[str, str] = field(default_factory=dict)

    def blocks(self, options: ReadOptions) -> Iterator[NDArray]:
        """Good rows, as ROW."""
        self.skipped.file = self.source.name
        for first, lines in portions(self.source, options):
            stripped = map(bytes.strip, lines)
            held = [(number, line) for number, line in enumerate(stripped, first) if line and self._is_row(line)]
            options.others.count += len(lines) - len(held)
            if held:
                numbers, rows = zip(*held, strict=True)
                block = self._block(np.array(numbers), rows)
                self.rows += len(rows)
                yield block

    def _is_row(self, line: bytes) -> bool:
        """True if it is not a header line; a header may lack its semicolon, but does not begin with a number."""
        if line[:1] != b";":
            self.begun = self.begun or is_number(line.split(None, 1)[0])
            if self.begun:
                return True
            self.bare += 1
        if match := KEY.match(line):
            self.header.setdefault(match[1].decode().lower(), match[2].decode("utf-8", "replace"))
        return False

    def _block(self, numbers: NDArray, rows: Sequence[bytes]) -> NDArray:
        import pandas as pd

        frame = pd.read_csv(
            io.BytesIO(b"\n".join([WIDE, *rows])), sep=r"\s+", header=None, names=range(len(COLUMNS)),
            usecols=range(len(COLUMNS)), quoting=3, keep_default_na=False, na_values=[""], low_memory=False,
            lineterminator="\n",
        )[1:]  # fmt: skip
        short = np.array([value != value for value in frame[len(COLUMNS) - 1].tolist()], dtype=bool)
        cells = {name: floats(frame[COLUMNS.index(name)]) for name in USED}
        identity, submit, run = cells["id"], cells["submit"], cells["run"]
        procs = np.where(cells["procs"] > 0, cells["procs"], cells["requested_procs"])
        good = np.ones(len(rows), dtype=bool)
        for reason, bad, at in (
            ("too_few_cells", short, 17),
            ("unreadable_id", np.isnan(identity) | (identity != np.round(identity)) | (np.abs(identity) >= 2**53), 0),
            ("unreadable_submit", np.isnan(submit) | (submit > LATEST_S), 1),
            ("no_submit", submit < 0, 1),
            ("unreadable_run", np.isnan(run), 3),
            ("no_end", run == -1, 3),
            ("run_not_positive", run < 0.001, 3),
            ("run_too_long", run > MAX_RUN_S, 3),
            ("no_processors", ~(procs > 0), 4),
            ("unreadable_procs", procs != np.round(procs), 4),
            ("too_many_processors", procs > MAX_PROCS, 4),
        ):
            for row in np.flatnonzero(good & bad).tolist():
                words = rows[row].split(None, len(COLUMNS))
                value = words[at].decode("utf-8", "replace") if at < len(words) else f"{len(words)} of {len(COLUMNS)}"
                self.skipped.add(int(numbers[row]), reason, value)
            good &= ~bad
        memory = np.where(cells["memory"] > 0, cells["memory"], cells["requested_memory"])
        queue, partition = _code(cells["queue"]), _code(cells["partition"])
        block = np.empty(int(good.sum()), dtype=ROW)
        for name, column in (
            ("id", identity), ("submit", submit), ("run", run), ("procs", procs),
            ("memory", _code(np.ceil(memory * KB_TO_MB), least=1)),
            ("limit", np.where((cells["requested_time"] > 0) & (cells["requested_time"] <= MAX_RUN_S),
                               cells["requested_time"], -1)),
            ("status", np.where((cells["status"] >= 0) & (cells["status"] < 100), cells["status"], -1)),
            ("user", _code(cells["user"])),
            ("group", np.where(queue >= 0, 2 * queue, np.where(partition >= 0, 2 * partition + 1, -1))),
            ("line", numbers),
        ):  # fmt: skip
            block[name] = column[good]
        block["log"] = self.number
        return block

    def machines(self) -> list[Machine]:
        """Nodes listed in the header; none if it has none, or more than a cluster holds."""
        nodes, procs = self.count("maxnodes"), self.count("maxprocs")
        nodes = min(nodes or procs, procs or nodes)
        if not 0 < nodes <= MAX_SERVERS or procs * ONE_CPU >= MAX_NUMBER:
            return []
        each, more = divmod(procs or nodes, nodes)
        return [Machine(f"node{n + 1}", 0, (each + (n < more)) * ONE_CPU) for n in range(nodes)]

    def count(self, key: str) -> int:
        match = re.match(r"\d{1,12}", self.header.get(key, ""))
        return int(match[0]) if match else 0


def _code(values: NDArray, least: int = 0) -> NDArray[np.int64]:
    """Small whole numbers, -1 where there is none."""
    return np.where((values >= least) & (values < 2**30), values, -1).astype(np.int64)


def _drafts(logs: Sequence[_Log], rows: NDArray, skipped: Skipped) -> tuple[Drafts | None, int]:
    """(jobs by arrival, rows merged into them)."""
    if not len(rows):
        return None, 0
    rows = rows[np.lexsort((rows["line"], rows["log"]))]
    befores = np.cumsum([0, *(log.rows for log in logs)])
    numbers = befores[rows["log"]] + rows["line"]
    _, kept, inverse = np.unique(
        np.where(rows["id"] >= 0, rows["id"], -1 - numbers), return_index=True, return_inverse=True
    )
    again = np.ones(len(rows), dtype=bool)
    again[kept] = False
    of = kept[inverse]  # the first row of the same job
    part = again & np.isin(rows["status"], PARTS)
    for row in np.flatnonzero(again & ~part).tolist():
        skipped.file = logs[rows["log"][row]].source.name
        skipped.add(int(rows["line"][row]), "duplicate_id", int(rows["id"][row]))
    added = part & np.isin(rows["status"][of], PARTS)  # no summary: the parts are the job
    np.add.at(rows["run"], of[added], (rows["run"] * rows["procs"])[added] / rows["procs"][of[added]])
    starts = [log.count("unixstarttime") for log in logs]
    offset = np.array(starts if all(starts) else [0] * len(logs), dtype=float)
    submit = rows["submit"] + offset[rows["log"]]
    order = np.flatnonzero(~again)
    order = order[np.argsort(submit[order], kind="stable")]
    chosen, submit = rows[order], submit[order]
    keys = [
        f"j{key}" if key >= 0 else f"row{n}"
        for key, n in zip(chosen["id"].tolist(), numbers[order].tolist(), strict=True)
    ]
    demand = np.full((len(chosen), 5), -1, dtype=np.int64)
    demand[:, GPU], demand[:, CPU], demand[:, MEMORY] = 0, ONE_CPU, chosen["memory"]
    drafts = Drafts(
        keys=np.array(keys, dtype=object), prefix="", arrival_ms=np.rint((submit - submit[0]) * 1000).astype(np.int64),
        run_ms=np.maximum(1, np.rint(chosen["run"] * 1000)).astype(np.int64), workers=chosen["procs"].astype(np.int64),
        demand=demand,
        origins={"arrival_ms": "trace", "requested_workers": "trace", "worker": "derived", "ps": "derived",
                 "user": "trace", "group": "trace", "limit_ms": "trace"},
        known={
            "user": _words(chosen["user"], str), "group": _words(chosen["group"], _group),
            "ps": np.broadcast_to(np.array([0, ONE_CPU, -1, -1, -1]), (len(chosen), 5)),
            "limit_ms": np.where(chosen["limit"] > 0, np.rint(chosen["limit"] * 1000), -1),
        },
    )  # fmt: skip
    return drafts, int(part.sum())


def _words(codes: NDArray, word: Callable[[int], str]) -> NDArray[np.object_]:
    """Text of each code, "" for -1."""
    distinct, inverse = np.unique(codes, return_inverse=True)
    return np.array([word(code) if code >= 0 else "" for code in distinct.tolist()], dtype=object)[inverse]


def _group(code: int) -> str:
    return f"{'partition' if code % 2 else 'queue'}-{code // 2}"


def _notes(logs: Sequence[_Log]) -> list[str]:
    """Notes on rules, and on headers that contradict the rows."""
    notes = [
        "Workers are the processors that a job used, or requested if that is unknown; a worker and a "
        "parameter server have 1 CPU and no GPU.",
        "Job jN has job number N; jobs without a number are named rowN after their row.",
    ]
    for log in logs:
        stated = log.count("maxjobs") or log.count("maxrecords")
        if stated and stated != log.rows:
            notes.append(
                f"{log.source.name}: the header states {counted(stated, 'job')}; "
                f"the file has {counted(log.rows, 'row')}."
            )
        if log.bare:
            notes.append(
                f"{log.source.name}: {counted(log.bare, 'line')} before the first job: read as the header, "
                "although without semicolons."
            )
        start = log.count("unixstarttime")
        if 0 < start < LATEST_S:
            zone = log.header.get("timezonestring", "")
            notes.append(
                f"{log.source.name}: times count from {moment_utc(start * 1000)}"
                f"{f' (the log is from {zone})' if zone else ''}."
            )
    return notes
