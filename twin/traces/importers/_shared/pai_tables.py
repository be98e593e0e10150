"""Tables of Alibaba PAI (v2020): their columns, and recognition by a header line or by the cells of the first lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import header

TABLES = {
    "job": ("job_name", "inst_id", "user", "status", "start_time", "end_time"),
    "task": (
        "job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu",
        "gpu_type",
    ),
    "instance": (
        "job_name", "task_name", "inst_name", "worker_name", "inst_id", "status", "start_time", "end_time", "machine",
    ),
    "machine": ("machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"),
    "group tag": ("inst_id", "user", "gpu_type_spec", "group", "workload"),
}  # fmt: skip
USED = {
    **TABLES,
    "task": tuple(name for name in TABLES["task"] if name != "status"),
    "instance": ("job_name", "start_time", "end_time"),
    "group tag": ("inst_id", "workload"),
}
STATUSES = ("Terminated", "Failed", "Running", "Waiting")
NUMBER = re.compile(rb"\d+(\.\d*)?(e\d\d?)?")
WORD = re.compile(rb"[\w.-]+")
GPU_TYPE = re.compile(rb"[A-Z][A-Z0-9]*")


def table_of(head: bytes) -> tuple[str, bool]:
    """(table, whether it has a header line); "" for none."""
    names = set(header(head))
    for kind, columns in TABLES.items():
        if names >= set(columns):
            return kind, True
    lines = [[cell.strip().strip(b'"') for cell in line.split(b",")] for line in first_lines(head)]
    for kind, (matches, least) in PATTERNS.items():
        if lines and sum(len(cells) == len(TABLES[kind]) and matches(cells) for cells in lines) >= least * len(lines):
            return kind, False
    return "", False


def _is_job(cells: Sequence[bytes]) -> bool:
    return cells[3].decode("ascii", "replace") in STATUSES and _numbers(cells[4:6])


def _is_task(cells: Sequence[bytes]) -> bool:
    return cells[3].decode("ascii", "replace") in STATUSES and _numbers([cells[2], *cells[4:9]])


def _is_instance(cells: Sequence[bytes]) -> bool:
    return cells[5].decode("ascii", "replace") in STATUSES and _numbers(cells[6:8])


def _is_machine(cells: Sequence[bytes]) -> bool:
    return (
        all(map(NUMBER.fullmatch, cells[2:]))
        and WORD.fullmatch(cells[0]) is not None
        and GPU_TYPE.fullmatch(cells[1]) is not None
    )


def _is_group_tag(cells: Sequence[bytes]) -> bool:
    words = all(map(WORD.fullmatch, (cells[0], cells[1], cells[3]))) and (
        not cells[4] or WORD.fullmatch(cells[4]) is not None
    )
    return (
        words
        and (not cells[2] or GPU_TYPE.fullmatch(cells[2]) is not None)
        and not all(map(NUMBER.fullmatch, cells[2:]))
    )


def _numbers(cells: Sequence[bytes]) -> bool:
    """Numbers or nothing."""
    return all(not cell or NUMBER.fullmatch(cell) for cell in cells)


# Check of a row of each table, and the least share of such rows; a status identifies more than a name.
PATTERNS: dict[str, tuple[Callable[[Sequence[bytes]], bool], float]] = {
    "job": (_is_job, 0.25), "task": (_is_task, 0.25), "instance": (_is_instance, 0.25), "machine": (_is_machine, 0.6),
    "group tag": (_is_group_tag, 0.6),
}  # fmt: skip
