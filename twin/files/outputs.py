"""Output files of `simulate`, written in one pass over the events, and their readers for `verify`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import orjson

from scheduling.kernel.realized_schedule import Futures
from scheduling.model.bars import CLOUD, END, JOB, NONE, Placement, Role
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, Event, Job, ModelError
from twin.files.cluster_json import dump_cluster
from twin.files.groups_csv import NAME as GROUPS
from twin.files.groups_csv import GroupHistory
from twin.files.jobs_jsonl import job_lines
from twin.files.textcheck import BOM, check_text
from twin.files.units import shorten

SCHEDULE_COLUMNS = ("job", "chunk", "role", "server", "lane", "count", "group", "start_ms", "end_ms")
ROLE_NAMES = {Role.WORKER: "worker", Role.PS: "ps", Role.TRANSFER: "transfer", Role.SUSPENDED: "suspended"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet take a cell for a formula
FILES = ("cluster.json", "jobs.jsonl", "schedule.csv", "decisions.jsonl", "events.jsonl", "summary.json")
_LINE = orjson.OPT_APPEND_NEWLINE


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """The file, open for writing; its errors carry its name."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


class OutputWriter:
    """Writer of events.jsonl and decisions.jsonl during the run, of the other files at its end. The folder exists."""

    def __init__(self, directory: Path, cluster: Cluster, jobs: Sequence[Job]) -> None:
        self.directory, self.cluster, self.jobs = directory, cluster, jobs
        self.futures = Futures()
        self.groups = GroupHistory()

    def passing(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events, passed on after they are written."""
        self._write("cluster.json", [dump_cluster(self.cluster)])
        self._write("jobs.jsonl", job_lines(self.jobs))
        with writing(self.directory / "events.jsonl") as log, writing(self.directory / "decisions.jsonl") as decisions:
            for event in events:
                if event.kind == "decided":
                    decisions.write(orjson.dumps(self._decision(event), option=_LINE))
                elif event.kind == "plan_changed":
                    self._planned(event)
                self.groups.feed(event)
                log.write(event_line(event))
                yield event

    def finish(self, summary: dict[str, Any]) -> None:
        """Files at the end: schedule.csv, summary.json and, for co-location, groups.csv."""
        bars = map(Placement._make, self.futures.matrix().tolist())
        self._write("schedule.csv", (line.encode() for line in schedule_lines(self.cluster, self.jobs, bars)))
        if self.groups.wanted:
            self._write(GROUPS, (line.encode() for line in self.groups.lines(self.cluster, self.jobs)))
        self._write(
            "summary.json", [orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | _LINE)]
        )

    def _write(self, name: str, parts: Iterable[bytes]) -> None:
        with writing(self.directory / name) as file:
            file.writelines(parts)

    def _decision(self, event: Event) -> dict[str, Any]:
        data = event.data
        reason = {"code": data["code"], "values": data["values"]}
        return {
            "seq": event.seq,
            "at_ms": event.at_ms,
            "job": self.jobs[data["job"]].id,
            "kind": data["kind"],
            "reason": reason,
        }

    def _planned(self, event: Event) -> None:
        bars = event.data["bars"]
        last = max(bars, key=itemgetter(END), default=None)
        if last is not None and last[END] > MAX_INT:
            id_ = self.jobs[last[JOB]].id
            raise ModelError(
                f"job {id_} would run until {last[END]} ms, beyond 2^53; set horizon_slots, or reduce the work of jobs"
            )
        self.futures.feed(event)


def event_line(event: Event) -> bytes:
    """Line of events.jsonl; bars become lists."""
    line = {"seq": event.seq, "at_ms": event.at_ms, "kind": event.kind, "data": event.data}
    return orjson.dumps(line, default=tuple, option=_LINE | orjson.OPT_SERIALIZE_NUMPY)


def schedule_lines(cluster: Cluster, jobs: Sequence[Job], bars: Iterable[Placement]) -> Iterator[str]:
    """The lines of schedule.csv. The bars of a job follow each other; those where nothing changes become one."""
    names = {CLOUD: "cloud", NONE: ""} | {i: quoted(server.name) for i, server in enumerate(cluster.servers)}
    yield ",".join(SCHEDULE_COLUMNS) + "\n"
    for job, own in groupby(bars, key=itemgetter(JOB)):
        id_ = quoted(jobs[job].id)
        for _, role, server, start_ms, end_ms, count, worker_slot, chunk, group in merged(own):
            shown = [number if number >= 0 else "" for number in (chunk, worker_slot, group)]
            place = f"{ROLE_NAMES[Role(role)]},{names[server]},{shown[1]}"
            yield f"{id_},{shown[0]},{place},{count},{shown[2]},{start_ms},{end_ms}\n"


def merged(bars: Iterable[Placement]) -> list[Placement]:
    """Bars of one job, in order, each joined to the one that it continues without a change."""
    out: list[Placement] = []
    ending: dict[tuple[int, ...], int] = {}  # (key, end) of a bar -> its index in `out`
    for bar in bars:
        same = (bar.role, bar.server, bar.count, bar.worker_slot, bar.chunk, bar.group)
        place = ending.pop((*same, bar.start_ms), None)
        if place is None:
            place = len(out)
            out.append(bar)
        else:
            out[place] = out[place]._replace(end_ms=bar.end_ms)
        ending[(*same, bar.end_ms)] = place
    return out


def cell(text: str) -> str:
    """Text that a spreadsheet will not take for a formula; a quote in front is doubled, so that it can be read back."""
    return f"'{text}" if text.lstrip("'")[:1] in FORMULA and text.lstrip("'") else text


def quoted(text: str) -> str:
    """`cell` in the form of a CSV, for names, which hold no commas."""
    safe = cell(text)
    return '"' + safe.replace('"', '""') + '"' if '"' in safe else safe


def read_schedule(path: Path) -> list[dict[str, str]]:
    """schedule.csv as rows of text, unchecked: the verifier judges them. ModelError when the header is another one."""
    data = path.read_bytes()
    check_text(data, path.name)
    reader = csv.DictReader(io.StringIO(data.decode(), newline=""), restkey="more", restval="")
    try:
        columns = tuple(reader.fieldnames or ())
        if columns != SCHEDULE_COLUMNS:
            raise ModelError(
                f"{path.name}: the columns must be {','.join(SCHEDULE_COLUMNS)}, got {shorten(','.join(columns))!r}"
            )
        return list(reader)
    except csv.Error as error:
        raise ModelError(f"{path.name}: line {reader.line_num}: {error}") from error


def read_lines(path: Path) -> Iterator[Any]:
    """The values of a .jsonl file, one by one and unchecked; ModelError names line and column of what is no JSON."""
    return _values(path.open("rb"), path.name)


def _values(file: IO[bytes], filename: str) -> Iterator[Any]:
    with file:
        for number, line in enumerate(file, start=1):
            yield parsed(line, filename, number)


def read_value(path: Path) -> Any:
    """The value of a .json file, unchecked; ModelError names line and column."""
    return parsed(path.read_bytes(), path.name)


def parsed(data: bytes, filename: str, line: int = 1) -> Any:
    """JSON that begins in that line of a file."""
    try:
        return orjson.loads(data.removeprefix(BOM))
    except orjson.JSONDecodeError as error:
        check_text(data, filename, line)
        raise ModelError(
            f"{filename}: line {line + error.lineno - 1}, column {error.colno}: not JSON: {error.msg}"
        ) from error
