"""Grid Engine accounting: one line for each execution, at least 43 cells between colons (accounting(5) of SGE and UGE).

Used: queue, owner, job number, submission, start and end (Unix seconds; milliseconds in later versions), slots, task
number, requests (`-l gpu=2,h_rt=3600`) and pe_taskid. Lines of slave tasks of a parallel job belong to its own line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.accounting import Accounts, Entry, number_of
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.cells import durations, quantities
from twin.traces.uploads.lines import first_lines

FORMAT = "sge"
TITLE = "Grid Engine accounting"
MIN_CELLS = 43  # cells: up to maxvmem
QUEUE, OWNER, NUMBER, SUBMIT, START, END, SLOTS, TASK, CATEGORY, PE_TASK = 0, 3, 5, 8, 9, 10, 34, 35, 39, 41
GPUS = re.compile(r"\b(?:gpus?|ngpus|gpu_card|nvidia_gpu)=(\d{1,6})\b")
LIMIT = re.compile(r"\bh_rt=([\d:]+)")
MEMORY = re.compile(r"\b(?:mem_free|h_vmem|m_mem_free|mem_req)=(\d+(?:\.\d+)?[kKmMgGtT]?)")
IN_MS = 1e11  # a time above it is in milliseconds


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): cells between colons, and times where they belong."""
    lines = [line.decode("utf-8", "replace").split(":") for line in first_lines(head) if line[:1] != b"#"]
    if not lines or max(map(len, lines)) < MIN_CELLS:
        return False, f"its lines have fewer than {MIN_CELLS} cells between colons", 0.0
    good = sum(
        len(cells) >= MIN_CELLS and all(cells[at].isdigit() for at in (NUMBER, SUBMIT, START, END)) for cells in lines
    )
    fits = 2 * good >= len(lines)
    return (
        fits,
        "the cells are those of jobs" if fits else f"only {good:,} of {counted(len(lines), 'line')} are jobs",
        good / len(lines),
    )


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Lines to drafts."""
    skipped, rows, slaves = Skipped(), 0, 0
    accounts = Accounts(options.reading)
    for source in sources:
        for number, line in accounts.lines(source, options, skipped):
            rows += 1
            cells = line.strip().split(":")
            if len(cells) < MIN_CELLS:
                skipped.add(number, "too_few_cells", f"{len(cells)} of {MIN_CELLS}")
            elif cells[PE_TASK] not in ("NONE", "") and not float(_number(cells[SUBMIT])):
                slaves += 1
            else:
                accounts.offer(number, _entry(cells), skipped)
    notes = [
        "The run time is end - start. Slots are CPUs; GPUs, memory and the time limit are those of the requests (-l), "
        "GPUs for the whole job, memory for each slot."
    ]
    if slaves:
        notes.append(f"Merged into their jobs: {counted(slaves, 'line')} of slave tasks.")
    return accounts.read(sources, rows, skipped, notes, slaves)


def _entry(cells: Sequence[str]) -> Entry:
    submit, start, end = (_moment(cells[at]) for at in (SUBMIT, START, END))
    slots, task, category = _number(cells[SLOTS]), cells[TASK], cells[CATEGORY]
    gpus, limit, memory = (found.search(category) for found in (GPUS, LIMIT, MEMORY))
    return Entry(
        key=cells[NUMBER] if task in ("0", "") else f"{cells[NUMBER]}.{task}",
        submit_ms=submit, start_ms=start, end_ms=end, gpus=float(gpus[1]) if gpus else 0.0, cpus=slots,
        mb=float(quantities([memory[1]], 1.0)[0]) / 1e6 * slots if memory else math.nan,
        limit_ms=float(durations([limit[1]], 1000)[0]) if limit else -1, group=cells[QUEUE], user=cells[OWNER],
    )  # fmt: skip


def _number(cell: str) -> float:
    found = number_of(cell)
    return 0.0 if math.isnan(found) else found


def _moment(cell: str) -> float:
    """ms since 1970; 0 means that it did not happen."""
    value = _number(cell)
    return math.nan if value <= 0 else value if value > IN_MS else value * 1000
