"""LSF's accounting as `bacct -l` prints it: a paragraph for each job, long lines folded (bacct(1) of IBM).

`Job <12>, User <ann>, ..., Queue <gpu>, ...`, then events with their times: `Submitted from host`, `Dispatched ...
Task(s) on Host(s)` or `Dispatched to`, and `Completed <done>` or `<exit>`. Lines are folded within words, at any place.
Times without a year, as of old versions, cannot be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from twin.traces.importers._shared.accounting import Accounts, Entry
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.importing.reading import Reading
from twin.traces.uploads.cells import DAY, dates
from twin.traces.uploads.lines import portions

FORMAT = "bacct"
TITLE = "LSF accounting (bacct -l)"
ROW_IS_LINE = False  # a job has many
JOB = re.compile(r"Job <([^>]*)>,")
EVENT = re.compile(r"([A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?: \d{4})?):\s*(.*)")
FOLD = re.compile(r"^ {6,}(?=\S)")
SLOTS = re.compile(r"[Dd]ispatched\s*(?:to)?\s*(\d{1,6})\s*(?:Task|Host|Processor)")
HOSTS = re.compile(r"<(?:(\d{1,6})\*)?([^>]+)>")
GPUS = re.compile(r"\bngpus_physical=(\d+(?:\.\d+)?)|Requested GPU[^;]*?num=(\d+)|\bnum=(\d+)")
ONE = {"user": re.compile(r"User <([^>]*)>"), "queue": re.compile(r"Queue <([^>]*)>")}


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): a job and its end, in the words of bacct."""
    text = head.decode("utf-8", "replace")
    found = ["Accounting information about" in text, JOB.search(text) is not None, "Submitted from host" in text]
    fits = found[1] and found[2]
    why = "the words are those of bacct -l" if fits else "no paragraph begins with `Job <12>,`; print it with bacct -l"
    return fits, why, sum(found) / 3


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Paragraphs to drafts."""
    skipped, rows = Skipped(), 0
    accounts = Accounts(options.reading, local=True)
    for source in sources:
        accounts.open(source, skipped)
        for line, paragraph in _jobs(source, options):
            rows += 1
            accounts.offer(line, _entry(paragraph, options.reading), skipped)
    notes = [
        "The run time is from Dispatched to Completed. CPUs are the slots, GPUs those of the requirement of a host."
    ]
    return accounts.read(sources, rows, skipped, notes)


def _jobs(source: Source, options: ReadOptions) -> Iterator[tuple[int, list[str]]]:
    """(first line, lines put together again) of each job."""
    begun, held = 0, list[str]()
    for first, lines in portions(source, options):
        for number, raw in enumerate(lines, first):
            text = raw.decode("utf-8", "replace")
            if JOB.match(text):
                if held:
                    yield begun, held
                begun, held = number, [text]
            elif held and FOLD.match(text):
                held[-1] += text.lstrip()
            elif held:
                held.append(text)
    if held:
        yield begun, held


def _entry(lines: Sequence[str], reading: Reading) -> Entry:
    head, moments, slots, hosts = lines[0], dict[str, float](), math.nan, 1
    for line in lines[1:]:
        found = EVENT.match(line.strip())
        if not found:
            continue
        what = found[2]
        name = next((word for word in ("Submitted", "ispatched", "Completed") if word in what[:60]), "")
        if name:
            moments[name] = float(dates([found[1]], DAY, reading)[0])
        if name == "ispatched":
            named = HOSTS.findall(what.split("Allocated")[0])
            stated = SLOTS.search(what)
            hosts = len({host for _, host in named}) or 1
            slots = float(stated[1]) if stated else float(sum(int(count or 1) for count, _ in named) or 1)
    found_gpus = GPUS.search(" ".join(lines))
    amount = next((float(text) for text in found_gpus.groups() if text), 0.0) if found_gpus else 0.0
    who: dict[str, Any] = {name: found[1] if (found := pattern.search(head)) else "" for name, pattern in ONE.items()}
    key = JOB.match(head)
    return Entry(
        key=key[1] if key else "", submit_ms=moments.get("Submitted", math.nan),
        start_ms=moments.get("ispatched", math.nan), end_ms=moments.get("Completed", math.nan), gpus=amount * hosts,
        cpus=slots, group=who["queue"], user=who["user"],
    )  # fmt: skip
