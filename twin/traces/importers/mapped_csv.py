"""Any CSV with a header and a column mapping: {field: column}, and settings that say how its values are read.

Without `run` a job runs from its `start`, or its arrival where no start is named, to its `end`.

Fields: `arrival` and one of `run` and `end` are needed. `gpus` are those of the whole job: with `workers`, they are
shared equally among these; without, each worker has one GPU. `cpus` and `memory_gb` are of one worker. `status`: a row
is skipped if its job never ran (pending, running, waiting). Settings: `arrival_unit` and `run_unit` of plain numbers,
`memory_unit`, `date_order` of dates such as 03/04/2026. cells.py lists the forms of values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.model.values import CPU, GPU, MEMORY
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.importing.fields import DATETIME, FIELDS
from twin.traces.importing.reading import UNITS, Reading
from twin.traces.uploads import cells as forms
from twin.traces.uploads.bulk import BulkTable
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import Portion, delimiter, header

FORMAT = "mapped_csv"
TITLE = "CSV with mapped columns"
MEMORY_UNITS = {"GB": 1e9, "GiB": 2.0**30, "MB": 1e6, "MiB": 2.0**20, "KB": 1e3, "KiB": 2.0**10, "B": 1.0}
SETTINGS = {
    "arrival_unit": (*UNITS, DATETIME), "run_unit": tuple(UNITS), "memory_unit": tuple(MEMORY_UNITS),
    "date_order": (forms.DAY, forms.MONTH),
}  # fmt: skip
SAMPLE = 500  # lines that decide how dates are read
LATEST_MS = 2**53
MAX_RUN_MS = 100 * 366 * 86_400_000  # a century
MAX_WORKERS = 100_000
NEVER_RAN = frozenset(("pending", "waiting", "queued", "running", "r", "pd", "active"))
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
NAMES = re.compile(r"[!-+\--~]{1,200}(?:\n[!-+\--~]{1,200})*+")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """Match, never automatic: a user has to map the columns."""
    return False, "its columns must be mapped first", 0.0


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first row that is imported."""
    mapping, settings = checked(options.mapping, sources)
    skipped, rows, seen = Skipped(), 0, set[str]()
    parts: list[dict[str, np.ndarray]] = []
    words: dict[str, str] = {}
    for source in sources:
        table = BulkTable(source, sorted(set(mapping.values())), skipped, options, mark=delimiter(source.head))
        for portion in table.portions():
            parts.append(Rows(portion, mapping, settings, rows, words).good(seen, skipped))
        rows += table.rows
    if not any(len(part["key"]) for part in parts):
        raise skipped.nothing(sources[0].name, rows)
    seen.clear()
    columns = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
    if (columns["arrival"][1:] < columns["arrival"][:-1]).any():
        order = np.argsort(columns["arrival"], kind="stable")
        for name in columns:
            columns[name] = columns[name][order]
    arrival = columns.pop("arrival").astype(np.int64)
    drafts = Drafts(
        keys=columns["key"], prefix="" if "id" in mapping else "r", arrival_ms=arrival - arrival[0],
        run_ms=columns.pop("run").astype(np.int64), workers=columns["workers"].astype(np.int64),
        demand=_demand(columns),
        origins={"arrival_ms": "trace",
                 "requested_workers": "trace" if {"workers", "gpus"} & mapping.keys() else "derived"},
        known={name: columns[name] for name in ("model", "group", "user") if name in columns},
    )  # fmt: skip
    return Read(rows, skipped, drafts=drafts, notes=_notes(mapping, settings, options.reading, int(arrival[0])))


def _notes(mapping: Mapping[str, str], settings: Mapping[str, str], reading: Reading, first_ms: int) -> list[str]:
    pairs = ", ".join(f"{field} = {column}" for field, column in mapping.items())
    notes = [
        f"Column mapping: {pairs}; times in {settings['arrival_unit']}, run times in {settings['run_unit']}.",
        running(mapping),
    ]
    if settings["arrival_unit"] == DATETIME:
        order = f" Dates have the {settings['date_order']} first." if settings["date_order"] else ""
        notes.append(f"{reading.first_note(first_ms)}.{order}")
    return notes


def running(mapping: Mapping[str, str]) -> str:
    """Run times as a sentence."""
    if "run" in mapping:
        return f"The run time of a job is {mapping['run']}."
    if "start" in mapping:
        return f"A job runs from {mapping['start']} to {mapping['end']}."
    return (
        f"A job runs from {mapping['arrival']} to {mapping['end']}: waiting before the start counts as work. "
        "Map the column of the start if there is one."
    )


def checked(given: Mapping[str, Any] | None, sources: Sequence[Source]) -> tuple[dict[str, str], dict[str, str]]:
    """(mapping, settings), or what is wrong with them."""
    source = sources[0]
    names = header(source.head)
    listed = ", ".join(names)[:500]
    if not given:
        raise ImportRefused(
            f"{source.name}: map its columns first, for example --map arrival={names[0] if names else 'COLUMN'} --map "
            f"run=COLUMN; fields: {', '.join(FIELDS)}; columns: {listed}"
        )
    known = (*FIELDS, *SETTINGS)
    unknown = [field for field in given if field not in known]
    if unknown:
        raise ImportRefused(f"unknown field {unknown[0]!r} in the mapping; known: {', '.join(known)}")
    mapping = {field: str(given[field]).strip() for field in FIELDS if given.get(field)}
    for field, column in mapping.items():
        if column not in names:
            raise ImportRefused(
                f"{source.name}: line 1: there is no column {column!r} for {field}; the columns are {listed}"
            )
    if "arrival" not in mapping or not {"run", "end"} & mapping.keys():
        lacking = "run or end" if "arrival" in mapping else "arrival"
        raise ImportRefused(f"{source.name}: the mapping has no column for {lacking}; it is required")
    settings = {name: str(given.get(name) or "") for name in SETTINGS}
    for name, value in settings.items():
        if value and value not in SETTINGS[name]:
            raise ImportRefused(f"{name} must be one of {', '.join(SETTINGS[name])}, got {value!r}")
    times = _sample(source, [mapping[field] for field in ("arrival", "start", "end") if field in mapping])
    if not settings["arrival_unit"]:
        settings["arrival_unit"] = DATETIME if times and forms.is_date(times[0]) else "s"
    if settings["arrival_unit"] == DATETIME:
        settings["date_order"] = settings["date_order"] or forms.order_of_dates(times)
        if not settings["date_order"] and forms.is_undecided(times):
            raise ImportRefused(
                f"{source.name}: dates such as {times[0]!r} can be read in two ways; map date_order=day or "
                "date_order=month"
            )
    return mapping, {
        **settings,
        "run_unit": settings["run_unit"] or "s",
        "memory_unit": settings["memory_unit"] or "GB",
    }


def _sample(source: Source, columns: Sequence[str]) -> list[str]:
    """Filled cells of these columns in the first lines."""
    lines = first_lines(source.head, SAMPLE)
    names = header(source.head)
    mark = delimiter(source.head)
    rows = [row for row in (header(line, mark) for line in lines[1:]) if len(row) >= len(names)]
    return [row[names.index(column)] for row in rows for column in columns if row[names.index(column)]]


class Rows:
    """Rows of a portion. before: rows of earlier files; words: texts that rows share, as they are kept."""

    def __init__(
        self,
        portion: Portion,
        mapping: Mapping[str, str],
        settings: Mapping[str, str],
        before: int,
        words: dict[str, str],
    ) -> None:
        self.portion, self.mapping, self.settings, self.before, self.words = portion, mapping, settings, before, words
        self.cells = {field: portion.columns[column] for field, column in mapping.items()}
        self.arrival = self._times("arrival")
        self.start = self._times("start") if "start" in mapping and "run" not in mapping else self.arrival
        if "run" in mapping:
            self.ran = forms.durations(self.cells["run"], UNITS[settings["run_unit"]])
        else:
            self.ran = self._times("end") - self.start
        self.amounts = {field: forms.numbers(self.cells[field]) for field in ("workers", "gpus") if field in mapping}
        if "cpus" in mapping:
            self.amounts["cpus"] = forms.quantities(self.cells["cpus"], 1.0)
        if "memory_gb" in mapping:
            factor = MEMORY_UNITS[settings["memory_unit"]]
            self.amounts["memory_gb"] = forms.quantities(self.cells["memory_gb"], factor) / MEMORY_UNITS["GB"]
        gpus = self.amounts.get("gpus")
        alone = np.ones(len(portion.lines)) if gpus is None else np.maximum(1, np.ceil(gpus))
        self.workers = self.amounts.pop("workers", alone)

    def _times(self, field: str) -> np.ndarray:
        if self.settings["arrival_unit"] == DATETIME:
            return forms.dates(self.cells[field], self.settings["date_order"], self.portion.reading)
        return forms.numbers(self.cells[field]) * UNITS[self.settings["arrival_unit"]]

    def good(self, seen: set[str], skipped: Skipped) -> dict[str, np.ndarray]:
        """The rows that can be imported, by field; the others are skipped."""
        good = self.portion.sift(skipped, self._reasons(seen))
        keys = (
            np.array(self.cells["id"], dtype=object) if "id" in self.mapping else self.before + self.portion.lines - 1
        )
        found = {
            "key": keys, "arrival": np.rint(self.arrival), "run": np.rint(self.ran), "workers": self.workers,
            **self.amounts,
        }  # fmt: skip
        found |= {
            field: np.array(self._kept(self.cells[field]), dtype=object)
            for field in ("model", "group", "user")
            if field in self.cells
        }
        return {name: column[good] for name, column in found.items()}

    def _kept(self, cells: Sequence[str]) -> list[str]:
        for text in set(cells) - self.words.keys():
            self.words[text] = _printable(text)
        return [self.words[text] for text in cells]

    def _reasons(self, seen: set[str]) -> list[tuple[str, np.ndarray, str]]:
        mapping, workers = self.mapping, self.workers
        run_from = mapping.get("run") or mapping["end"]
        workers_from = "gpus" if "gpus" in mapping and "workers" not in mapping else "workers"
        countable = (workers >= 1) & (workers <= MAX_WORKERS) & (workers == np.floor(workers))
        reasons = [
            ("unreadable_arrival", ~(np.abs(self.arrival) < LATEST_MS), mapping["arrival"]),
            ("no_start", np.isnan(self.start), mapping.get("start") or mapping["arrival"]),
            ("unreadable_run" if "run" in mapping else "no_end", np.isnan(self.ran), run_from),
            ("run_not_positive", self.ran < 1, run_from),
            ("run_too_long", self.ran > MAX_RUN_MS, run_from),
            (f"unreadable_{workers_from}", ~countable, mapping.get(workers_from, run_from)),
        ]
        for field, amount in self.amounts.items():
            reasons.append((f"unreadable_{field}", ~((amount >= 0) & (amount < 1e9)), mapping[field]))
        if "status" in mapping:
            idle = np.array([text.lower() in NEVER_RAN for text in self.cells["status"]], dtype=bool)
            reasons.insert(0, ("pending", idle, mapping["status"]))
        if "id" in mapping:
            ids = self.cells["id"]
            reasons += [
                ("unreadable_name", _unreadable(ids), mapping["id"]),
                ("duplicate_id", _repeated(ids, seen), mapping["id"]),
            ]
        return reasons


def _unreadable(ids: Sequence[str]) -> np.ndarray:
    if NAMES.fullmatch("\n".join(ids)):  # almost always
        return np.zeros(len(ids), dtype=bool)
    return np.array([not NAME.fullmatch(text) for text in ids], dtype=bool)


def _repeated(ids: Sequence[str], seen: set[str]) -> np.ndarray:
    """Ids that occurred before; they are added to `seen`."""
    distinct = set(ids)
    found = np.zeros(len(ids), dtype=bool)
    if len(distinct) < len(ids) or not seen.isdisjoint(distinct):
        before = set(seen)
        for place, text in enumerate(ids):
            found[place] = text in before
            before.add(text)
    seen |= distinct
    return found


def _printable(text: str) -> str:
    """Text that may be a model or a group: printable and short."""
    return "".join(c for c in text if c.isprintable())[:100]


def _demand(columns: dict[str, np.ndarray]) -> np.ndarray:
    """[job, 5] thousandths of one worker."""
    demand = np.full((len(columns["key"]), 5), -1, dtype=np.int64)
    if "gpus" in columns:
        demand[:, GPU] = np.rint(columns["gpus"] / columns["workers"] * 1000)
    for resource, field in ((CPU, "cpus"), (MEMORY, "memory_gb")):
        if field in columns:
            demand[:, resource] = np.rint(columns[field] * 1000)
    return demand
