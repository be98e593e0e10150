"""Acme traces, trace_seren.csv and trace_kalos.csv (InternLM/AcmeTrace, whose README describes the columns).

Times have a UTC offset. The run time is end_time - start_time: `duration` is that in Seren, but in Kalos counts the
wait too. gpu_num 0 marks a CPU job. mem_per_pod_GB is the memory of one of node_num pods (Kalos). `type` is the
workload.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.accounting import MAX_RUN_MS, MAX_WORKERS, NAME, Accounts
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.cells import DAY, dates
from twin.traces.uploads.tables import Portion, Table, closeness, header

FORMAT = "acme"
TITLE = "Acme traces (Seren, Kalos)"
COLUMNS = ("job_id", "user", "node_num", "gpu_num", "cpu_num", "type", "state", "submit_time", "start_time", "end_time",
           "gpu_time")  # fmt: skip
MEMORY = "mem_per_pod_GB"
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "SUSPENDED")
NOT_ENDED = ("PENDING", "RUNNING")
MAX_NUMBER = 2.0**40


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts."""
    skipped, rows, seen, differing = Skipped(), 0, set[str](), 0
    accounts = Accounts(options.reading)
    for source in sources:
        accounts.files.append(source.name)
        optional = [name for name in (MEMORY, "duration") if name in header(source.head)]
        table = Table(source, (*COLUMNS, *optional), skipped, options)
        for portion in table.portions():
            differing += _add(portion, accounts, seen, skipped)
        rows += table.rows
    notes = [
        "The run time is end_time - start_time"
        + (
            f"; the column “duration” differs in {differing:,} of {counted(len(accounts.keys), 'job')}."
            if differing
            else "."
        ),
        "The column “type” names the virtual cluster, which is the queue.",
    ]
    return accounts.read(sources, rows, skipped, notes)


def _add(portion: Portion, accounts: Accounts, seen: set[str], skipped: Skipped) -> int:
    """Rows of a portion; in how many the duration is not the run time."""
    columns = portion.columns
    names, states = columns["job_id"], columns["state"]
    submit, start, end = (
        dates(columns[name], DAY, portion.reading) for name in ("submit_time", "start_time", "end_time")
    )
    gpus, cpus, nodes = (portion.numbers(name) for name in ("gpu_num", "cpu_num", "node_num"))
    memory = portion.numbers(MEMORY) if MEMORY in columns else np.full(len(names), np.nan)
    repeated = np.zeros(len(names), dtype=bool)
    for row, name in enumerate(names):
        repeated[row] = name in seen
        seen.add(name)
    run = end - start
    good = portion.sift(skipped, (
        ("unreadable_name", np.array([not NAME.fullmatch(name) for name in names], dtype=bool), "job_id"),
        ("duplicate_id", repeated, "job_id"),
        ("unknown_status", np.array([word not in (*ENDED, *NOT_ENDED) for word in states], dtype=bool), "state"),
        ("no_end", np.array([word in NOT_ENDED for word in states], dtype=bool), "state"),
        ("unreadable_submit_time", np.isnan(submit), "submit_time"),
        ("no_start", np.isnan(start), "start_time"),
        ("no_end", np.isnan(end), "end_time"),
        ("run_not_positive", run < 1, "end_time"),
        ("run_too_long", run > MAX_RUN_MS, "end_time"),
        ("unreadable_gpu_num", ~((gpus >= 0) & (gpus <= MAX_WORKERS) & (gpus == np.floor(gpus))), "gpu_num"),
        ("unreadable_cpu_num", ~((cpus >= 0) & (cpus < MAX_NUMBER)), "cpu_num"),
        ("too_many_processors", (gpus == 0) & (cpus > MAX_WORKERS), "cpu_num"),
    ))  # fmt: skip
    mb = np.where((memory > 0) & (nodes > 0) & (memory * nodes < MAX_NUMBER), memory * nodes * 1000, np.nan)
    numbers = [portion.lines, submit, run, gpus, np.where(cpus > 0, cpus, np.nan), mb, np.full(len(names), -1.0),
               np.full(len(names), len(accounts.files) - 1)]  # fmt: skip
    accounts.parts.append(np.stack(numbers)[:, good])
    for row in np.flatnonzero(good).tolist():
        accounts.keys.append(names[row])
        accounts.groups.append(accounts.word(columns["type"][row]))
        accounts.users.append(accounts.word(columns["user"][row]))
    if "duration" not in columns:
        return 0
    return int((np.abs(portion.numbers("duration") * 1000 - run) > 1000)[good].sum())
