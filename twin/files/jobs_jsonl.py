"""jobs.jsonl: one job a line, in whole units, sorted by arrival."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import IO, Any

import orjson

from scheduling.model.known_names import unknown
from scheduling.model.provenance import FORMER, PROVENANCES, current
from scheduling.model.values import EarlierSize, Job, ModelError, Utility, shown
from twin.files.textcheck import BOM, check_text
from twin.files.units import MAX_INT, read_demand, shorten, write_demand

JOB_KEYS = tuple(f.name for f in fields(Job))
INTEGERS = frozenset((
    "arrival_ms", "epochs", "num_chunks", "minibatches_per_chunk", "num_samples", "global_batch", "workers_per_ps",
    "requested_workers", "iterations", "iterations_per_epoch", "cloud_upload_ms", "limit_ms",
))  # fmt: skip
TEXTS = frozenset(("id", "model", "worker_type", "ps_type", "user", "group"))
MAX_LINE = 2**20  # bytes of one job: 50,000 upload delays fit
WHOLE = "an integer of at most 2^53"
_KEY = re.compile(r"unknown key '([^']*)'|(?:^|: |^\S+ )(" + "|".join(JOB_KEYS) + r")\b")


def load_jobs(
    source: bytes | IO[bytes], filename: str = "jobs.jsonl", progress: Callable[[int], None] = lambda _: None
) -> list[Job]:
    """Jobs of all lines, sorted by arrival (equal arrivals keep their order). ModelError states file, line and column.

    progress: called with the number of jobs read so far.
    """
    jobs: list[Job] = []
    seen: dict[str, int] = {}
    for number, line, job in _lines(source, filename):
        if job.id in seen:
            raise ModelError(
                f"{filename}: line {number}, column {_column(line, 'id')}: job id {shown(job.id)!r} is "
                f"already used in line {seen[job.id]}; "
                "ids must be distinct"
            )
        seen[job.id] = number
        jobs.append(job)
        progress(len(jobs))
    return sorted(jobs, key=lambda job: job.arrival_ms)


def _lines(source: bytes | IO[bytes], filename: str) -> Iterator[tuple[int, bytes, Job]]:
    """(line number, line, job) of each line that is not blank."""
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise ModelError(f"{filename}: line {number}: longer than {MAX_LINE // 2**20} MiB; write one job per line")
        if number == 1:
            line = line.removeprefix(BOM)
        if line.strip():
            yield number, line, parse_line(line, filename, number)


def parse_line(line: bytes, filename: str, number: int) -> Job:
    """Job of a line."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        check_text(line, filename, number)
        raise ModelError(f"{filename}: line {number}, column {error.colno}: not JSON: {error.msg}") from error
    try:
        return job_from_dict(value)
    except ModelError as error:
        raise ModelError(f"{filename}: line {number}, column {_column(line, _subject(str(error)))}: {error}") from error


def _subject(message: str) -> str:
    """The key that a message like `job a: worker.gpu must be ...` is about."""
    found = _KEY.search(message)
    return (found.group(1) or found.group(2)) if found else ""


def _column(line: bytes, key: str) -> int:
    """Column of the key in the line; 1 if it is absent."""
    return max(line.find(f'"{key}"'.encode()), 0) + 1


def job_lines(jobs: Iterable[Job]) -> Iterator[bytes]:
    """The lines of jobs.jsonl."""
    return (orjson.dumps(job_to_dict(job), option=orjson.OPT_APPEND_NEWLINE) for job in jobs)


def job_from_dict(value: Any) -> Job:
    """Plain data as a Job."""
    if not isinstance(value, dict):
        raise ModelError(f"a job must be an object, got {type(value).__name__}")
    wrong = [key for key in value if key not in JOB_KEYS]
    if wrong:
        raise ModelError(unknown("key", wrong[0], JOB_KEYS))
    for key in ("id", "arrival_ms"):
        if value.get(key) is None:
            raise ModelError(f"{key} is missing")
    subject = f"job {shown(str(value['id']))}"
    given = {key: _convert(subject, key, found) for key, found in value.items() if found is not None}
    return Job(**given)


def job_to_dict(job: Job) -> dict[str, Any]:
    """A Job as plain data; parts that it does not have are left out."""
    row: dict[str, Any] = {}
    for key in JOB_KEYS:
        value = getattr(job, key)
        if value is None or (key == "provenance" and not value):
            continue
        if key in ("worker", "ps"):
            value = write_demand(value)
        elif key == "utility":
            value = {"priority": value.priority, "sensitivity": value.sensitivity, "target_slots": value.target_slots}
        elif key == "upload_ms":
            value = list(value)
        elif key == "earlier_sizes":
            value = [size._asdict() | {"worker": write_demand(size.worker)} for size in value]
        elif key == "provenance":
            value = dict(value)
        row[key] = value
    return row


def _convert(subject: str, key: str, value: Any) -> Any:
    if key in TEXTS:
        return _checked(subject, key, value, isinstance(value, str), "text")
    if key in INTEGERS:
        return _checked(subject, key, value, _is_integer(value), WHOLE)
    if key in ("worker", "ps"):
        return read_demand(subject, key, value)
    if key == "utility":
        return _utility(subject, value)
    if key == "upload_ms":
        holds = isinstance(value, list) and all(_is_integer(item) for item in value)
        return tuple(_checked(subject, key, value, holds, "a list of integers"))
    if key == "earlier_sizes":
        return (
            tuple(_earlier_size(subject, size) for size in value)
            if isinstance(value, list)
            else _checked(subject, key, value, False, "a list of objects")
        )
    if key == "provenance":
        holds = isinstance(value, dict) and all(
            isinstance(origin, str) and origin in (*PROVENANCES, *FORMER) for origin in value.values()
        )
        return current(_checked(subject, key, value, holds, f"an object of {', '.join(PROVENANCES)}"))
    return _checked(subject, key, value, isinstance(value, int | float) and not isinstance(value, bool), "a number")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INT


def _utility(subject: str, value: Any) -> Utility:
    names = ("priority", "sensitivity", "target_slots")
    holds = isinstance(value, dict) and set(value) == set(names)
    holds = holds and all(isinstance(v, int | float) and not isinstance(v, bool) for v in value.values())
    _checked(subject, "utility", value, holds, f"an object of numbers {', '.join(names)}")
    try:
        return Utility(**value)
    except ModelError as error:
        raise ModelError(f"{subject}: {error}") from error


def _earlier_size(subject: str, value: Any) -> EarlierSize:
    names = EarlierSize._fields
    holds = isinstance(value, dict) and set(value) == set(names)
    holds = holds and _is_integer(value["until_ms"]) and _is_integer(value["requested_workers"])
    _checked(subject, "earlier_sizes", value, holds, f"objects of {', '.join(names)}")
    return EarlierSize(
        value["until_ms"], read_demand(subject, "earlier_sizes.worker", value["worker"]), value["requested_workers"]
    )


def _checked(subject: str, key: str, value: Any, holds: bool, rule: str) -> Any:
    if not holds:
        raise ModelError(f"{subject}: {key} must be {rule}, got {shorten(repr(value))}")
    return value
