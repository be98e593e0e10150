"""LSF's lsb.acct: a record JOB_FINISH for each job, cells between blanks, texts in quotes (lsb.acct(5) of IBM).

Used: the time of the event, which is the end; job id and index of an array; submission, start and termination deadline
(Unix seconds); user, queue; execution hosts, one name for each slot or `8*host`; the maximum memory in KB; GPUs of the
resource requirement: `ngpus_physical=2` for each host, or `num=2` for each host or `num=2/task`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from twin.traces.importers._shared.accounting import Accounts, Entry, number_of
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.lines import first_lines

FORMAT = "lsf"
TITLE = "LSF accounting (lsb.acct)"
CELL = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
FINISH = "JOB_FINISH"
EVENT, JOB, SLOTS, SUBMIT, DEADLINE, START, USER, QUEUE, REQUIRES, ASKED = 2, 3, 6, 7, 9, 10, 11, 12, 13, 22
AFTER_HOSTS = 4  # status, host factor, job name, command
RUSAGE = 19  # cells of resource usage
INDEX, MEMORY = 6, 7  # after the resource usage
GPUS = re.compile(r"\bngpus_physical=(\d+(?:\.\d+)?)|\bnum=(\d+)(/task)?")
KB_TO_MB = 1.024e-3
HOST = re.compile(r"(?:(\d{1,6})\*)?(\S+)")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the first cells of the lines."""
    lines = [line for line in first_lines(head) if line[:1] != b"#"]
    good = sum(re.match(rb'"[A-Z_]{3,40}" "[\d.]+" \d{9,10} ', line) is not None for line in lines)
    fits = bool(lines) and 2 * good >= len(lines) and any(FINISH.encode() in line for line in lines)
    why = "the lines are records" if fits else 'its lines do not begin with `"JOB_FINISH" "10.1" 1644826628`'
    return fits, why, good / max(1, len(lines))


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs of the records, as drafts."""
    skipped, rows = Skipped(), 0
    accounts = Accounts(options.reading)
    for source in sources:
        for number, line in accounts.lines(source, options, skipped):
            rows += 1
            cells = [quoted.replace('""', '"') or plain for quoted, plain in CELL.findall(line)]
            if not cells:
                skipped.add(number, "too_few_cells", "0")
            elif cells[0] != FINISH:
                skipped.add(number, "not_of_a_job", cells[0][:60])
            elif entry := _entry(cells):
                accounts.offer(number, entry, skipped)
            else:
                skipped.add(number, "too_few_cells", f"{len(cells)}")
    notes = [
        "The run time is the time of the event minus the start. CPUs are the slots on the execution hosts; memory is "
        "the most that the job used; GPUs are those of the resource requirement."
    ]
    return accounts.read(sources, rows, skipped, notes)


def _entry(cells: Sequence[str]) -> Entry | None:
    """Entry of a record; None if it is cut short."""
    asked = _count(cells, ASKED)
    at = ASKED + 1 + asked
    count = _count(cells, at)
    hosts = cells[at + 1 : at + 1 + count]
    usage = at + 1 + count + AFTER_HOSTS
    if len(cells) < usage + RUSAGE + MEMORY or asked < 0 or count < 0:
        return None
    slots = [HOST.fullmatch(host) for host in hosts]
    used = sum(int(slot[1] or 1) for slot in slots if slot)
    names = {slot[2] for slot in slots if slot}
    index = cells[usage + RUSAGE + INDEX]
    memory = number_of(cells[usage + RUSAGE + MEMORY]) if len(cells) > usage + RUSAGE + MEMORY else math.nan
    end, submit, start, deadline = (number_of(cells[at]) * 1000 for at in (EVENT, SUBMIT, START, DEADLINE))
    tasks = float(used or number_of(cells[SLOTS]))
    return Entry(
        key=cells[JOB] if index in ("0", "") else f"{cells[JOB]}[{index}]", submit_ms=submit,
        start_ms=start if start > 0 else math.nan, end_ms=end, gpus=_gpus(cells, len(names) or 1, tasks), cpus=tasks,
        mb=memory * KB_TO_MB, limit_ms=deadline - start if deadline > 0 else -1, group=cells[QUEUE], user=cells[USER],
    )  # fmt: skip


def _count(cells: Sequence[str], at: int) -> int:
    """A number of cells that follow; -1 where there is none."""
    text = cells[at] if at < len(cells) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else -1


def _gpus(cells: Sequence[str], hosts: int, tasks: float) -> float:
    """GPUs of the first requirement that names any; the effective one, near the end, repeats the submitted one."""
    for text in (cells[REQUIRES], *cells[ASKED:]):
        if ("ngpus_physical=" in text or "num=" in text) and (found := GPUS.search(text)):
            amount = float(found[1] or found[2])
            return amount * (tasks if found[3] else hosts)
    return 0.0
