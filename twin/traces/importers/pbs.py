"""PBS accounting (PBS Pro, OpenPBS, TORQUE): `MM/DD/YYYY HH:MM:SS;E;12.server;user=ann queue=gpu ctime=... start=...`.

A record E is the end of an execution (Torque Administrator's Guide, Accounting records; PBS Pro Reference Guide). Times
in its attributes are Unix seconds: ctime is the submission. Records of other types belong to the E record of their job.
CPUs and GPUs: Resource_List.ncpus and ngpus, or those of select (`2:ncpus=8:ngpus=4`) or nodes (`2:ppn=6:gpus=2`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.accounting import Accounts, Entry, number_of
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.cells import durations, quantities
from twin.traces.uploads.lines import first_lines

FORMAT = "pbs"
TITLE = "PBS accounting (PBS Pro, OpenPBS, TORQUE)"
RECORD = re.compile(r"(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);([A-Za-z]{1,3});([^;]*);(.*)", re.DOTALL)
PAIR = re.compile(r"([\w.]+)=(\"[^\"]*\"|'[^']*'|\S*)")
END, IGNORED = "E", "L"  # a license record belongs to no job
BINARY = {"kb": "Ki", "mb": "Mi", "gb": "Gi", "tb": "Ti", "b": "", "kw": "", "mw": ""}  # PBS counts in powers of two


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the shape of the lines."""
    lines = [line.decode("utf-8", "replace") for line in first_lines(head)]
    good = sum(RECORD.fullmatch(line.strip()) is not None for line in lines)
    fits = bool(lines) and 2 * good >= len(lines)
    why = "the lines are records" if fits else "its lines are not like `06/06/2005 14:04:25;E;408.server;user=...`"
    return fits, why, good / max(1, len(lines))


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs of the records, as drafts."""
    skipped, rows, ended = Skipped(), 0, set[str]()
    accounts = Accounts(options.reading)
    others: list[tuple[str, int, str, str]] = []  # (file, line, type, job)
    for source in sources:
        for number, line in accounts.lines(source, options, skipped):
            rows += 1
            record = RECORD.fullmatch(line.strip())
            if not record:
                skipped.add(number, "unreadable_cell", line.strip()[:60])
            elif record[2] == END:
                ended.add(record[3])
                pairs = {name: value.strip("\"'") for name, value in PAIR.findall(record[4])}
                accounts.offer(number, _entry(record[3], pairs), skipped)
            else:
                others.append((source.name, number, record[2], record[3]))
    merged = 0
    for file, number, kind, job in others:
        if job in ended:
            merged += 1
        else:
            skipped.file = file
            skipped.add(number, "not_of_a_job" if kind == IGNORED or not job else "no_end", f"{kind} {job}")
    notes = ["The run time is end - start of the record E; the submission is ctime, the time limit is the walltime."]
    if merged:
        notes.append(f"Merged into their jobs: {counted(merged, 'record')} of other types than E.")
    return accounts.read(sources, rows, skipped, notes, merged)


def _entry(job: str, pairs: Mapping[str, str]) -> Entry:
    moments = {name: number_of(pairs.get(name, "")) * 1000 for name in ("ctime", "qtime", "start", "end")}
    cpus, gpus = _amounts(pairs)
    memory, limit = pairs.get("Resource_List.mem", ""), pairs.get("Resource_List.walltime", "")
    submit = moments["qtime"] if math.isnan(moments["ctime"]) else moments["ctime"]
    return Entry(
        key=job.partition(".")[0] or "?", submit_ms=submit,
        start_ms=moments["start"] if moments["start"] > 0 else math.nan,
        end_ms=moments["end"] if moments["end"] > 0 else math.nan, gpus=gpus, cpus=cpus, mb=_megabytes(memory),
        limit_ms=float(durations([limit], 1000)[0]) if limit else -1, group=pairs.get("queue", ""),
        user=pairs.get("user", "").partition("@")[0],
    )  # fmt: skip


def _amounts(pairs: Mapping[str, str]) -> tuple[float, float]:
    """(CPUs, GPUs): totals where they are stated, else those of the chunks, else one CPU for each slot of exec_host."""
    cpus, gpus = (number_of(pairs.get(f"Resource_List.{name}", "")) for name in ("ncpus", "ngpus"))
    chunks = pairs.get("Resource_List.select") or pairs.get("Resource_List.nodes") or ""
    found = [_chunk(text) for text in chunks.split("+") if text]
    if math.isnan(cpus) and any(cpu for cpu, _ in found):
        cpus = sum(cpu for cpu, _ in found)
    if math.isnan(gpus):
        gpus = sum(gpu for _, gpu in found)
    if math.isnan(cpus) and pairs.get("exec_host"):
        slots = [re.search(r"\*(\d{1,6})$", host) for host in pairs["exec_host"].split("+")]
        cpus = sum(float(slot[1]) if slot else 1.0 for slot in slots)
    return cpus, gpus


def _chunk(text: str) -> tuple[float, float]:
    """(CPUs, GPUs) of `2:ncpus=8:ngpus=4`, `2:ppn=6:gpus=1` or `node7:ppn=2`."""
    first, *parts = text.split(":")
    count = float(first) if first.isdigit() and len(first) < 7 else 1.0
    pairs = dict(part.partition("=")[::2] for part in parts)
    cpus, gpus = (
        next((number_of(pairs[name]) for name in names if name in pairs), 0.0)
        for names in (("ncpus", "ppn"), ("ngpus", "gpus"))
    )
    return count * (0 if math.isnan(cpus) else cpus), count * (0 if math.isnan(gpus) else gpus)


def _megabytes(text: str) -> float:
    """MB of `16gb`, which PBS means as 16 x 2^30 bytes; NaN for none."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?)([a-z]*)", text.lower())
    if not found or (found[2] and found[2] not in BINARY):
        return math.nan
    factor = 8 if found[2].endswith("w") else 1  # words
    unit = {"kw": "Ki", "mw": "Mi"}.get(found[2], BINARY.get(found[2], ""))
    return float(quantities([found[1] + unit], 1.0)[0]) * factor / 1e6
