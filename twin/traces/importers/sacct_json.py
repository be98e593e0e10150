"""Slurm accounting as `sacct --json` prints it: an object whose array `jobs` has one entry for each execution of a job.

Times are Unix seconds, the limit is in minutes, memory in MiB (https://slurm.schedmd.com/sacct.html; the field names
are those of the data parsers 0.0.37 to 0.0.41). Numbers may stand in {"set": true, "number": 5}, a state in a list.
Elapsed excludes suspended time. Tasks of an array are jobs of their own (12_3), components of a heterogeneous job
(12+0) a gang.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from twin.traces.importers._shared.accounting import Accounts, Entry, number_of
from twin.traces.importers.sacct import GOING, STATES, WAITING
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.json_text import values

FORMAT = "sacct_json"
TITLE = "Slurm accounting (sacct --json)"
ROW_IS_LINE = False  # a job of the JSON has many
MIB_TO_MB = 1.048576
KEYS = (rb'"jobs"\s*:\s*\[', rb'"submission"\s*:', rb'"tres"\s*:')


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the keys of the first job."""
    if head.lstrip()[:1] != b"{":
        return False, "it is not a JSON object", 0.0
    found = [re.search(key, head) is not None for key in KEYS]
    return all(found), "the keys fit" if all(found) else "it has no array “jobs” with times and TRES", sum(found) / 4


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs to drafts."""
    skipped, rows = Skipped(), 0
    accounts = Accounts(options.reading)
    for source in sources:
        accounts.open(source, skipped)
        for line, job in values(source, options, under="jobs"):
            rows += 1
            if isinstance(job, dict):
                _add(line, job, accounts, skipped)
            else:
                skipped.add(line, "unreadable_cell", job)
    notes = ["The run time is Elapsed, which excludes suspended time."]
    return accounts.read(sources, rows, skipped, notes)


def _add(line: int, job: Mapping[str, Any], accounts: Accounts, skipped: Skipped) -> None:
    state, times = _state(job), _part(job, "time")
    for reason, bad in (
        ("unknown_status", state not in STATES),
        ("pending", state in WAITING),
        ("no_end", state in GOING),
    ):
        if bad:
            skipped.add(line, reason, state)
            return
    gpus, cpus, mb = _amounts(_part(job, "tres"))
    required = _part(job, "required")
    start, end = (_moment(times.get(name)) for name in ("start", "end"))
    entry = Entry(
        key=_key(job), submit_ms=_moment(times.get("submission")), start_ms=start, end_ms=end,
        run_ms=number_of(times.get("elapsed")) * 1000, gpus=gpus,
        cpus=number_of(required.get("CPUs")) if math.isnan(cpus) else cpus, mb=mb,
        limit_ms=number_of(times.get("limit")) * 60_000, group=_text(job.get("partition")),
        user=_text(job.get("user") or _part(job, "association").get("user")),
    )  # fmt: skip
    accounts.offer(line, entry, skipped)


def _part(job: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = job.get(name)
    return found if isinstance(found, dict) else {}


def _state(job: Mapping[str, Any]) -> str:
    found = _part(job, "state").get("current")
    first = found[0] if isinstance(found, list) and found else found
    return _text(first)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: Any) -> float:
    """ms since 1970; 0 means that a job has not started or ended."""
    seconds = number_of(value)
    return seconds * 1000 if seconds > 0 else math.nan


def _key(job: Mapping[str, Any]) -> str:
    array, het = _part(job, "array"), _part(job, "het")
    task, offset = number_of(array.get("task_id")), number_of(het.get("job_offset"))
    if number_of(array.get("job_id")) > 0 and not math.isnan(task):
        return f"{number_of(array['job_id']):.0f}_{task:.0f}"
    if number_of(het.get("job_id")) > 0 and not math.isnan(offset):
        return f"{number_of(het['job_id']):.0f}+{offset:.0f}"
    return f"{number_of(job.get('job_id')):.0f}"


def _amounts(tres: Mapping[str, Any]) -> tuple[float, float, float]:
    """(GPUs, CPUs, MB) that were allocated, or else requested; GPUs by type count where their sum is not there."""
    for name in ("allocated", "requested"):
        found: dict[str, float] = {}
        entries = tres.get(name)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                kind = "/".join(_text(entry.get(key)) for key in ("type", "name") if entry.get(key))
                found[kind] = number_of(entry.get("count"))
        typed = [count for kind, count in found.items() if kind.startswith("gres/gpu:") and count > 0]
        if found:
            gpus = found.get("gres/gpu", sum(typed))
            mb = found.get("mem", math.nan) * MIB_TO_MB
            return 0.0 if math.isnan(gpus) else gpus, found.get("cpu", math.nan), mb
    return 0.0, math.nan, math.nan
