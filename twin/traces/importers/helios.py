"""Helios cluster_log.csv (jobs) and `*_gpu_number.csv` (GPUs of each virtual cluster on each day).

Times are local without a zone. gpu_num 0 marks a CPU job; those are skipped and counted. A capacity that changes
becomes unavailable servers on the days when their virtual cluster has fewer GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import compress, pairwise

import numpy as np

from scheduling.model.values import CPU, GPU, MAX_SERVERS
from scheduling.reporting.quantities import counted
from twin.moments import date_time
from twin.traces.importers._shared.machines import Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.bulk import BulkTable
from twin.traces.uploads.tables import Portion, Table, closeness, header

FORMAT = "helios"
TITLE = "Helios cluster_log.csv and GPUs by day"
COLUMNS = (
    "job_id",
    "user",
    "vc",
    "gpu_num",
    "cpu_num",
    "node_num",
    "state",
    "submit_time",
    "start_time",
    "end_time",
    "duration",
    "queue",
)
NEEDED = ("job_id", "user", "vc", "gpu_num", "cpu_num", "state", "submit_time", "start_time", "end_time", "duration")
SUMMARY = ("id", "gpu_num", "job_num", "cpu_job_num", "gpu_job_num")
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "SUSPENDED")
NULLS = ("", "None", "Unknown")
NOT_ENDED = ("PENDING", "RUNNING")
NAME = re.compile(r"[!-+\--~]{1,190}")  # printable ASCII without blanks and commas
DAY = re.compile(r"\d{4}-\d\d-\d\d")
DAY_MS = 86_400_000
AFTER_MS = 10 * 366 * DAY_MS  # how long the last day of a capacity file holds
MAX_RUN_S = 100 * 366 * 86_400  # a century
MAX_GPUS = 100_000
MAX_NUMBER = 2**40
GPUS_PER_SERVER = 8


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): the header of a log, a list of days or the summary, which `read` refuses by name."""
    if _is_summary(head):
        return True, "the header is that of the summary", 1.0
    if _is_days(head):
        return True, "the header is that of GPUs by day", 1.0
    return closeness(header(head), NEEDED)


def _is_summary(head: bytes) -> bool:
    return set(SUMMARY) <= set(header(head))


def _is_days(head: bytes) -> bool:
    """`date`, virtual clusters, `total`; the first row begins with a day."""
    names = header(head)
    if len(names) < 3 or names[0] != "date" or "total" not in names:
        return False
    below = [line for line in head.splitlines()[1:2] if line.strip()]
    return not below or DAY.fullmatch(header(below[0])[0] if header(below[0]) else "") is not None


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs of the log, servers of the capacity file; time 0 is the first job's arrival, without a log the first day."""
    summaries = [source for source in sources if _is_summary(source.head)]
    days = [source for source in sources if source not in summaries and _is_days(source.head)]
    logs = [source for source in sources if source not in summaries and source not in days]
    if summaries and not logs and not days:
        raise ImportRefused(
            f"{summaries[0].name}: line 1: this summary has only totals of each cluster, no jobs and no servers; "
            "use a cluster_log.csv, or a list of GPUs by day such as Earth_gpu_number.csv"
        )
    found, zero_ms = Read(0, Skipped()), None
    if logs:
        zero_ms = _read_jobs(logs, found, options)
    if days:
        _read_days(days, found, options, zero_ms)
    found.notes += [f"{source.name} contains only totals and is not used." for source in summaries]
    options.others.count += sum(source.lines or 0 for source in summaries)
    return found


def _read_jobs(logs: Sequence[Source], found: Read, options: ReadOptions) -> int:
    """Jobs, filled into the drafts; the first arrival in ms since 1970."""
    keys: list[str] = []
    groups: list[str] = []
    users: list[str] = []
    words: dict[str, str] = {}
    parts, differing = [], 0
    for number, source in enumerate(logs):
        table, prefix = BulkTable(source, NEEDED, found.skipped, options), f"{number + 1}-" if len(logs) > 1 else ""
        seen: set[str] = set()
        for portion in table.portions():
            rows, numbers, other = _rows(portion, found.skipped, seen)
            differing += other
            parts.append(numbers)
            keys += [prefix + name for name in rows.columns["job_id"]]
            groups += [_word(text, words) for text in rows.columns["vc"]]
            users += [_word(text, words) for text in rows.columns["user"]]
        found.rows += table.rows
    if not keys:
        raise found.skipped.nothing(logs[0].name, found.rows)
    submitted, run_ms, gpus, cpu = np.concatenate(parts, axis=1)
    order = np.argsort(submitted, kind="stable")
    first = int(submitted.min())
    demand = np.full((len(order), 5), -1, dtype=np.int64)
    demand[:, GPU], demand[:, CPU] = 1000, cpu[order]
    found.drafts = Drafts(
        keys=np.array(keys, dtype=object)[order], prefix="h", arrival_ms=submitted[order] - first, run_ms=run_ms[order],
        workers=gpus[order], demand=demand,
        origins={"arrival_ms": "trace", "requested_workers": "trace", "worker": "derived", "group": "trace",
                 "user": "trace"},
        known={"group": np.array(groups, dtype=object)[order], "user": np.array(users, dtype=object)[order]},
    )  # fmt: skip
    found.notes += [
        f"{options.reading.first_note(first)}.",
        "One worker has 1 GPU and cpu_num / gpu_num CPUs; job hN has job_id N.",
        "The run time is the column “duration”, and end_time - start_time where it is empty; they differ in "
        f"{differing:,} of {counted(len(keys), 'job')}.",
        f"Not imported: {counted(found.skipped.counts['no_gpu'], 'CPU job')} (gpu_num 0).",
    ]
    return first


def _rows(portion: Portion, skipped: Skipped, seen: set[str]) -> tuple[Portion, np.ndarray, int]:
    """The good rows; their [submitted ms, run ms, GPUs, milli-CPU of a worker]; in how many it is not end - start."""
    gpus = portion.numbers("gpu_num")
    good = portion.sift(skipped, (
        ("unreadable_gpu_num", ~((gpus >= 0) & (gpus == np.floor(gpus))), "gpu_num"),
        ("no_gpu", gpus == 0, "job_id"),
        ("too_many_gpus", gpus > MAX_GPUS, "gpu_num"),
    ))  # fmt: skip
    portion, gpus = _taken(portion, good), gpus[good]
    names, states = portion.columns["job_id"], portion.columns["state"]
    cpus, duration = portion.numbers("cpu_num"), portion.numbers("duration")
    submitted, start, end = (portion.milliseconds(name) for name in ("submit_time", "start_time", "end_time"))
    repeated = np.zeros(len(names), dtype=bool)
    for i, name in enumerate(names):
        repeated[i] = name in seen
        seen.add(name)
    unknown = {state for state in states if state not in ENDED and state not in NOT_ENDED}
    span = (end - start) / 1000
    run = np.where(_are(portion, "duration", NULLS), span, duration)
    good = portion.sift(skipped, (
        ("unreadable_name", np.array([not NAME.fullmatch(name) for name in names], dtype=bool), "job_id"),
        ("duplicate_id", repeated, "job_id"),
        ("unknown_status", _are(portion, "state", unknown), "state"),
        ("unreadable_cpu_num", ~((cpus >= 0) & (cpus < MAX_NUMBER)), "cpu_num"),
        ("unreadable_submit_time", np.isnan(submitted), "submit_time"),
        ("pending", _are(portion, "state", ("PENDING",)) | _are(portion, "start_time", NULLS), "state"),
        ("no_end", _are(portion, "state", ("RUNNING",)) | _are(portion, "end_time", NULLS), "state"),
        ("unreadable_start_time", np.isnan(start), "start_time"),
        ("unreadable_end_time", np.isnan(end), "end_time"),
        ("unreadable_duration", np.isnan(run), "duration"),
        ("run_not_positive", run < 0.001, "duration"),
        ("run_too_long", run > MAX_RUN_S, "duration"),
    ))  # fmt: skip
    columns = [submitted, np.rint(run * 1000), gpus, np.rint(cpus * 1000 / gpus)]
    return (
        _taken(portion, good),
        np.stack([column[good] for column in columns]).astype(np.int64),
        int((run != span)[good].sum()),
    )


def _taken(portion: Portion, good: np.ndarray) -> Portion:
    """Selection of some rows."""
    if good.all():
        return portion
    columns = {name: list(compress(cells, good)) for name, cells in portion.columns.items()}
    return Portion(portion.lines[good], columns, portion.reading)


def _are(portion: Portion, name: str, words: Collection[str]) -> np.ndarray:
    """Mask of the cells that are one of the words."""
    cells = portion.columns[name]
    return np.fromiter((cell in words for cell in cells), bool, len(cells))


def _word(text: str, words: dict[str, str]) -> str:
    """Text of each VC and user, shared between rows; None if it cannot be displayed."""
    return words.setdefault(text, text if text.isprintable() and len(text) <= 200 else "")


def _read_days(days: Sequence[Source], found: Read, options: ReadOptions, zero_ms: int | None) -> None:
    """Servers, filled into the cluster."""
    if len(days) > 1:
        raise ImportRefused(f"{days[1].name}: the upload has two lists of GPUs by day; import one cluster at a time")
    source, before = days[0], found.rows
    vcs = [name for name in header(source.head)[1:] if name not in ("total", "")]
    bad = [name for name in vcs if not is_server_name(name) or len(name) > 190]
    if bad:
        raise ImportRefused(f"{source.name}: line 1: a virtual cluster cannot be named {bad[0]!r}")
    dates, capacity, total = _capacity(source, vcs, found, options)
    if not len(dates):
        raise found.skipped.nothing(source.name, found.rows - before)
    zero = int(dates[0]) if zero_ms is None else zero_ms
    begins = np.append(min(0, dates[0] - zero), dates[1:] - zero)
    ends = np.append(begins[1:], dates[-1] - zero + AFTER_MS)
    machines: list[Machine] = []
    for column, vc in enumerate(vcs):
        machines += _servers(vc, capacity[:, column], begins, ends)
        if len(machines) > MAX_SERVERS:
            raise ImportRefused(f"{source.name}: more than {MAX_SERVERS:,} servers; this is the maximum of a cluster")
    found.cluster, notes = to_cluster(safe_name(source.name), machines, options, source.name)
    found.merged += len(dates)
    sums = capacity.sum(axis=1)
    found.notes += [
        f"Each virtual cluster has a server for every {GPUS_PER_SERVER} of its maximum number of GPUs; servers are "
        f"unavailable on days when the cluster has fewer. {sums[0]:,} GPUs on {date_time(int(dates[0]))[:10]}, "
        f"{sums[-1]:,} on {date_time(int(dates[-1]))[:10]}, from {sums.min():,} to {sums.max():,}.",
        f"Time 0 is {'the first day' if zero_ms is None else 'the arrival of the first job'}, {date_time(zero)}. "
        "The numbers of a day apply until the next day in the list; those of the first day also before it, those of "
        "the last day also after it.",
    ]
    wrong = int((sums != total).sum())
    if wrong:
        found.notes.append(
            f"Warning: on {wrong:,} of {len(dates):,} days the virtual clusters do not add up to the column total."
        )
    found.notes += notes


def _capacity(
    source: Source, vcs: Sequence[str], found: Read, options: ReadOptions
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ms since 1970 of each day in order, GPUs [day, vc], total [day])."""
    table = Table(source, ("date", *vcs, "total"), found.skipped, options)
    dates, rows, totals, seen = [], [], [], set[str]()
    for portion in table.portions():
        midnights = {"day": [f"{cell} 00:00:00" for cell in portion.columns["date"]]}
        moment = Portion(portion.lines, midnights, portion.reading).milliseconds("day")
        gpus = np.stack([portion.numbers(name) for name in vcs], axis=1)
        repeated = np.zeros(len(moment), dtype=bool)
        for i, cell in enumerate(portion.columns["date"]):
            repeated[i] = cell in seen
            seen.add(cell)
        whole = (gpus >= 0) & (gpus <= MAX_GPUS) & (gpus == np.floor(gpus))
        good = portion.sift(found.skipped, (
            ("unreadable_date", np.isnan(moment), "date"),
            ("duplicate_id", repeated, "date"),
            ("unreadable_cell", ~whole.all(axis=1), "date"),
        ))  # fmt: skip
        dates.append(moment[good].astype(np.int64))
        rows.append(gpus[good].astype(np.int64))
        totals.append(portion.numbers("total")[good])
    found.rows += table.rows
    if not dates:
        return np.empty(0, np.int64), np.empty((0, len(vcs)), np.int64), np.empty(0)
    order = np.argsort(np.concatenate(dates), kind="stable")
    return np.concatenate(dates)[order], np.concatenate(rows)[order], np.concatenate(totals)[order]


def _servers(vc: str, capacity: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> list[Machine]:
    """Servers of 8 GPUs, cut where the capacity once ended, so that those present add up to each day's GPUs."""
    most = int(capacity.max())
    edges = sorted({*range(0, most, GPUS_PER_SERVER), *capacity.tolist()} | {0})
    machines = []
    for number, (low, high) in enumerate(pairwise(edges), start=1):
        gone = capacity < high
        changes = np.flatnonzero(np.diff(np.concatenate([[False], gone, [False]])))
        spans = [(int(begins[a]), int(ends[b - 1])) for a, b in zip(changes[::2], changes[1::2], strict=True)]
        away = tuple((max(0, begin), end) for begin, end in spans if end > 0)
        machines.append(Machine(f"{vc}-{number}", (high - low) * 1000, away=away))
    return machines
