"""Philly cluster_job_log (JSON: an array of jobs, or one job) and its list of servers (no header: `m31,8, 24GB`).

A job's run time is its last attempt's end - its first attempt's start, as in the publisher's notebook; its workers are
the GPUs of its first attempt. null, "" and "None" all mean that a value is not there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.machines import Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.importing.reading import Reading
from twin.traces.uploads.json_text import values
from twin.traces.uploads.tables import PORTION, Portion, Table

FORMAT = "philly"
TITLE = "Philly cluster_job_log (JSON) and list of servers"
ROW_IS_LINE = False  # a job of the JSON has many
KEYS = (b'"attempts"', b'"submitted_time"', b'"jobid"')
MACHINE = re.compile(rb"\s*[^\s,]+\s*,\s*\d+\s*,\s*\d+(\.\d+)?\s*Gi?B\s*")
MACHINE_COLUMNS = ("machine", "gpus", "memory")
STATUSES = ("Pass", "Killed", "Failed")
TEXTS = ("jobid", "status", "vc", "user", "submitted_time")
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
LOOKED_AT = 20  # lines of a list of servers
MAX_NAMED = 3  # machines that a warning names
MAX_GPUS = 10_000
MAX_RUN_MS = 100 * 366 * 86_400_000  # a century
HOUR_MS = 3_600_000
CLOCK_BACK_MS = 1_509_847_200_000  # 2017-11-05 02:00: the hour before it came twice


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the keys of the first job, or from lines that look like machines."""
    if _is_json(head):
        missing = [key.decode() for key in KEYS if key not in head]
        fits = KEYS[0] in head and len(missing) < 2
        return fits, f"no job has the key {missing[0]}" if missing else "the keys fit", 1 - len(missing) / len(KEYS)
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip()]
    share = sum(MACHINE.fullmatch(line) is not None for line in lines) / max(1, len(lines))
    return share > 0.5, "the lines list servers" if share > 0.5 else "its lines are not like `m31,8, 24GB`", share


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs of the logs, machines of the lists, and a warning where they contradict each other."""
    logs = [source for source in sources if _is_json(source.head)]
    lists = [source for source in sources if not _is_json(source.head)]
    found = Read(0, Skipped())
    machines = _machines(lists, found, options) if lists else {}
    if logs:
        log = _Log(found.skipped, {name: machine.gpu // 1000 for name, machine in machines.items()}, options.reading)
        for source in logs:
            log.read(source, options)
        found.rows += log.rows
        found.drafts = log.drafts(logs[0])
        found.notes += log.notes()
    if machines:
        found.cluster, notes = to_cluster(safe_name(lists[0].name), list(machines.values()), options, lists[0].name)
        found.notes += notes
    return found


def _is_json(head: bytes) -> bool:
    return head.lstrip()[:1] in (b"[", b"{")


def _machines(lists: Sequence[Source], found: Read, options: ReadOptions) -> dict[str, Machine]:
    machines: dict[str, Machine] = {}
    for source in lists:
        table = Table(source, MACHINE_COLUMNS, found.skipped, options, names=MACHINE_COLUMNS, mark=",")
        for portion in table.portions():
            for line, name, gpus, cell in zip(
                portion.lines.tolist(),
                portion.columns["machine"],
                portion.numbers("gpus").tolist(),
                portion.columns["gpus"],
                strict=True,
            ):
                if not is_server_name(name):
                    found.skipped.add(line, "unreadable_name", name)
                elif name in machines:
                    found.skipped.add(line, "duplicate_id", name)
                elif not (0 <= gpus <= MAX_GPUS and gpus == int(gpus)):  # NaN fails each comparison
                    found.skipped.add(line, "unreadable_gpus", cell)
                else:
                    machines[name] = Machine(name, int(gpus) * 1000)
        found.rows += table.rows
    if not machines:
        raise found.skipped.nothing(lists[0].name, found.rows, "server")
    return machines


class _Log:
    """Collector of the jobs of the logs. listed: the machines' GPUs, to compare with the used ones; may be empty."""

    def __init__(self, skipped: Skipped, listed: dict[str, int], reading: Reading) -> None:
        self.skipped, self.listed, self.reading = skipped, listed, reading
        self.rows = self.other_sum = self.later_gpus = self.across = 0
        self.seen: set[str] = set()
        self.words: dict[str, str] = {}  # one object for each VC and user
        self.parts: list[np.ndarray] = []  # [submitted ms, run ms, GPUs]
        self.keys: list[str] = []
        self.groups: list[str] = []
        self.users: list[str] = []
        self.lacking: dict[str, int] = {}  # machine: GPUs used beyond its list
        self.jobs_lacking = 0

    def read(self, source: Source, options: ReadOptions) -> None:
        """Jobs of one log, taken in portion after portion."""
        self.skipped.file = source.name
        portion: list[tuple[int, Any]] = []
        for entry in values(source, options):
            portion.append(entry)
            if len(portion) == PORTION:
                self._add(portion)
                portion = []
        self._add(portion)

    def _add(self, entries: list[tuple[int, Any]]) -> None:
        self.rows += len(entries)
        texts: dict[str, list[str]] = {name: [] for name in (*TEXTS, "start_time", "end_time", "attempts")}
        lines: list[int] = []
        gpus: list[int] = []
        attempts: list[int] = []
        owners: list[int] = []  # of every attempt
        starts: list[str] = []
        ends: list[str] = []
        for line, value in entries:
            if not isinstance(value, dict):
                self.skipped.add(line, "unreadable_cell", _text(str(value)))
                continue
            tries = _dicts(value.get("attempts"))
            begun = [_text(one.get("start_time")) for one in tries]
            ended = [_text(one.get("end_time")) for one in tries]
            owners += [len(lines)] * len(tries)
            starts += begun
            ends += ended
            lines.append(line)
            attempts.append(len(tries))
            gpus.append(self._gpus(tries))
            for name in TEXTS:
                texts[name].append(_text(value.get(name)))
            texts["start_time"].append(next(filter(None, begun), ""))
            texts["end_time"].append(ended[-1] if ended else "")
            texts["attempts"].append(f"{gpus[-1]} GPUs in {len(tries):,} attempts")
        self._keep(
            Portion(np.array(lines, dtype=np.int64), texts, self.reading),
            np.array(gpus),
            np.array(attempts),
            (owners, starts, ends),
        )

    def _gpus(self, tries: list[dict[str, Any]]) -> int:
        """GPUs of the first attempt that lists any; notes machines that have fewer in their list."""
        wanted, lacking = 0, False
        for number, one in enumerate(tries):
            held = [(_text(d.get("ip")), d.get("gpus")) for d in _dicts(one.get("detail"))]
            count = sum(len(names) for _, names in held if isinstance(names, list))
            self.later_gpus += number > 0 and not wanted and count > 0
            wanted = wanted or count
            if self.listed:
                for machine, names in held:
                    most = max([len(names), *map(_gpu_number, names)]) if isinstance(names, list) else 0
                    if most > self.listed.get(machine, 0):
                        self.lacking[machine] = max(most, self.lacking.get(machine, 0))
                        lacking = True
        self.jobs_lacking += lacking
        return wanted

    def _keep(
        self, portion: Portion, gpus: np.ndarray, attempts: np.ndarray, tries: tuple[list[int], list[str], list[str]]
    ) -> None:
        names = portion.columns["jobid"]
        repeated = np.zeros(len(names), dtype=bool)
        for i, name in enumerate(names):
            repeated[i] = name in self.seen
            self.seen.add(name)
        submitted, start, end = (portion.milliseconds(name) for name in ("submitted_time", "start_time", "end_time"))
        with np.errstate(invalid="ignore"):
            run = end - start
            in_hour = [(moment >= CLOCK_BACK_MS - HOUR_MS) & (moment < CLOCK_BACK_MS) for moment in (start, end)]
            twice = in_hour[0] & in_hour[1] if self.reading.time_zone is None else run > -HOUR_MS
            run = np.where((run < 0) & twice, run + HOUR_MS, run)
        empty = {
            name: np.array([not cell for cell in portion.columns[name]], dtype=bool)
            for name in ("start_time", "end_time")
        }
        good = portion.sift(self.skipped, (
            ("unreadable_name", np.array([not NAME.fullmatch(name) for name in names], dtype=bool), "jobid"),
            ("duplicate_id", repeated, "jobid"),
            ("unknown_status", np.array([cell not in STATUSES for cell in portion.columns["status"]], dtype=bool),
             "status"),
            ("unreadable_submitted_time", np.isnan(submitted), "submitted_time"),
            ("pending", attempts == 0, "attempts"),
            ("no_gpu", gpus == 0, "attempts"),
            ("too_many_gpus", gpus > MAX_GPUS, "attempts"),
            ("no_start", empty["start_time"], "attempts"),
            ("no_end", empty["end_time"], "attempts"),
            ("unreadable_start_time", np.isnan(start), "start_time"),
            ("unreadable_end_time", np.isnan(end), "end_time"),
            ("run_not_positive", run <= 0, "end_time"),
            ("run_too_long", run > MAX_RUN_MS, "end_time"),
        ))  # fmt: skip
        owners, starts, ends = tries
        each = Portion(np.array(owners, dtype=np.int64), {"start": starts, "end": ends}, self.reading)
        spans = np.nan_to_num(each.milliseconds("end") - each.milliseconds("start"))
        sums = np.bincount(each.lines, weights=spans, minlength=len(names)) if owners else np.zeros(len(names))
        self.other_sum += int((sums != run)[good].sum())
        self.across += int(((start < CLOCK_BACK_MS) & (end >= CLOCK_BACK_MS - HOUR_MS))[good].sum())
        self.parts.append(np.stack([submitted[good], run[good], gpus[good]]).astype(np.int64))
        kept = np.flatnonzero(good).tolist()
        self.keys += [names[i] for i in kept]
        self.groups += [self._word(portion.columns["vc"][i]) for i in kept]
        self.users += [self._word(portion.columns["user"][i]) for i in kept]

    def _word(self, text: str) -> str:
        return self.words.setdefault(text, text if text.isprintable() and len(text) <= 200 else "")

    def drafts(self, first: Source) -> Drafts:
        """The jobs by arrival."""
        submitted, run_ms, gpus = np.concatenate(self.parts, axis=1)
        if not self.keys:
            raise self.skipped.nothing(first.name, self.rows)
        order = np.argsort(submitted, kind="stable")
        self.first_ms = int(submitted.min())
        return Drafts(
            keys=np.array(self.keys, dtype=object)[order], prefix="", arrival_ms=submitted[order] - self.first_ms,
            run_ms=run_ms[order], workers=gpus[order],
            demand=np.tile(np.array([1000, -1, -1, -1, -1]), (len(order), 1)),
            origins={"arrival_ms": "trace", "requested_workers": "trace", "group": "trace", "user": "trace"},
            known={"group": np.array(self.groups, dtype=object)[order],
                   "user": np.array(self.users, dtype=object)[order]},
        )  # fmt: skip

    def notes(self) -> list[str]:
        """The rules, each with the number of jobs that it concerns."""
        notes = [
            "The run time is the end of the last attempt minus the start of the first one, as in the "
            "notebook of the publisher; the sum of the "
            f"attempts differs for {self.other_sum:,} of {counted(len(self.keys), 'job')}.",
            "One worker has 1 GPU; a job has as many workers as its first attempt has GPUs.",
            f"{self.reading.first_note(self.first_ms)}. On 2017-11-05 the clock went back: the repeated hour "
            "01:00-02:00 is read as its first occurrence, or as its second one where a "
            "job would otherwise end before its start; runs across the change are counted one hour too short. "
            f"Jobs that ran in or across it: {self.across:,}.",
        ]
        if self.later_gpus:
            notes.append(
                "The first attempt with GPUs is used where the first attempt has none: "
                f"{counted(self.later_gpus, 'job')}."
            )
        if self.lacking:
            worst = sorted(self.lacking, key=lambda name: (self.listed.get(name, 0) - self.lacking[name], name))[
                :MAX_NAMED
            ]
            excess = ", ".join(
                f"{name[:50]} {self.lacking[name]} used and {self.listed.get(name, 0)} listed" for name in worst
            )
            notes.append(
                f"Warning: {counted(self.jobs_lacking, 'job')} used GPUs that are not in the server list, on "
                f"{counted(len(self.lacking), 'server')} ({excess}). "
                "The cluster follows the list."
            )
        return notes


def _text(value: Any) -> str:
    """A value as text; "" for empty values, "?" for what is no text."""
    if value is None or value == "None":
        return ""
    if not isinstance(value, str):
        return "?"
    # half a surrogate pair is no text
    return value.strip() if value.isascii() else value.strip().encode("utf-8", "replace").decode()


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _gpu_number(name: Any) -> int:
    """Number of a GPU, from 1: `gpu7` is the eighth; 0 for other names."""
    number = name.removeprefix("gpu") if isinstance(name, str) else ""
    return int(number) + 1 if number.isascii() and number.isdigit() and len(number) < 5 else 0
