"""Import of uploaded files to jobs and a cluster: detection of formats, readers, synthesis, report."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from scheduling.model.values import Cluster, ModelError
from twin.files.cluster_json import check_end
from twin.files.job_table import JobTable
from twin.files.jobs_jsonl import job_to_dict
from twin.files.packed_jobs import PackedJobs
from twin.traces import synthesis
from twin.traces.importing.choice import MAX_INT, Choice
from twin.traces.importing.drafts import ImportCancelled, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.importing.reading import AS_STATED, UNIT_NAMES, UNITS, Reading
from twin.traces.importing.report import Origins, build_report, check_lines, in_unit
from twin.traces.mappings.guess import guess
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.openfile import Upload, opened
from twin.traces.uploads.tables import delimiter, header

PREVIEW = 20
FIRST_LINES = 5
MAX_LINE_BYTES = 300  # characters of a line that is shown
SAMPLE_LINES, MAX_SAMPLE = 11, 4_096  # lines for a column mapping, and characters of each
MAX_COLUMNS = 500  # of which a mapping is guessed
MAX_BEGINNINGS = 5  # files of a format whose first lines are kept


@dataclass(frozen=True)
class Match:
    """Result of the comparison of a file with a format: `fits`, or the sentence about what is missing."""

    format: str
    fits: bool
    why: str
    closeness: float  # 0..1, to name the nearest format when none fits


@dataclass
class ImportResult:
    """Result of an import: jobs sorted by arrival, the machines if the source lists them, the report."""

    jobs: PackedJobs
    cluster: Cluster | None
    report: dict[str, Any]
    skipped_csv: bytes  # gzipped
    preview: list[dict[str, Any]]
    format: str
    summary: str


class Unclear(ImportRefused):
    """Failure to select a format because none or two match.

    files: properties of each file for the user; remedy: options of the command line that would help.
    """

    def __init__(self, message: str, files: list[dict[str, Any]], remedy: str) -> None:
        super().__init__(message)
        self.files, self.remedy = files, remedy


@cache
def formats() -> Mapping[str, ModuleType]:
    """{name: module} of every format in twin/traces/importers: a module with FORMAT, TITLE, sniff and read."""
    import twin.traces.importers as folder

    found: dict[str, ModuleType] = {}
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda i: i.name):
        if info.ispkg:  # _shared
            continue
        module = importlib.import_module(f"twin.traces.importers.{info.name}")
        name = module.FORMAT
        if name in found:
            raise ValueError(f"format {name!r} is defined by {found[name].__name__} and {module.__name__}")
        found[name] = module
    return found


OTHER_TITLES = {"auto": "", "generated": "Generated workload", "mirror": "Live cluster"}  # not from files


def title_of(name: str) -> str:
    """Title of the format of a trace: of 'a + b' both titles; "" while it is not recognized."""
    known = {key: module.TITLE for key, module in formats().items()} | OTHER_TITLES
    title = " + ".join(known.get(one, one) for one in name.split(" + "))
    return title[:1].upper() + title[1:]


def unit_of(name: str) -> str:
    """Unit of the numbers of a format that are times; "" where it has none, or states dates or units."""
    return str(getattr(formats()[name], "TIME_UNIT", ""))


def sniff(head: bytes) -> list[Match]:
    """Matches of all formats with the beginning of a file, matching formats first."""
    matches = []
    for name, module in formats().items():
        fits, why, closeness = module.sniff(head)
        matches.append(Match(name, fits, why, closeness))
    return sorted(matches, key=lambda match: (not match.fits, -match.closeness, match.format))


def read(
    uploads: Path | Sequence[Upload], *, filename: str = "", format: str = "auto",
    mapping: Mapping[str, Any] | None = None, choice: Choice | None = None, seed: int = 0, slot_ms: int | None = None,
    reading: Reading = AS_STATED, progress: Callable[[float], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False, parsed: list[Part] | None = None,
) -> ImportResult:  # fmt: skip
    """Import of the files of one upload. ImportRefused states the reason in one sentence; nothing is imported in part.

    slot_ms: slot length that drawn fields and the cluster use (synthesis.SLOT_MS when None); mapping: see
    mapped_csv.py; parsed: what `parse` has made of the same files with the same options.
    """
    choice = choice or Choice()
    parts = parsed or parse(
        uploads, filename, format, mapping, seed, slot_ms, reading, _part(progress, 0, 0.6), cancelled
    )
    slot, name = slot_ms or synthesis.SLOT_MS, parts[0].file
    origins, clamped, preview = Origins(), Counter[str](), _First(PREVIEW)
    tables = _tables(parts, choice, seed, slot, _ticking(_part(progress, 0.6, 1), cancelled), clamped)
    try:
        jobs = PackedJobs.of(_watched(tables, origins, preview))
    except (ImportRefused, ModelError) as error:
        raise _about(name, error) from error
    reads = [part.read for part in parts]
    cluster = next((read.cluster for read in reads if read.cluster), None)
    report = build_report([part.format for part in parts], reads, jobs.count, origins, clamped, seed, slot)
    if not jobs.count and cluster is None:
        raise ImportRefused(f"{name}: no jobs remain to import: {report['summary']}")
    progress(1.0)
    skipped = Skipped.joined([read.skipped for read in reads])
    return ImportResult(jobs, cluster, report, skipped, preview.rows, report["format"], report["summary"])


@dataclass(frozen=True)
class Part:
    """Content of the files of one format; `file` is the first of them."""

    format: str
    file: str
    read: Read
    beginnings: tuple[dict[str, Any], ...] = ()


def parse(
    uploads: Path | Sequence[Upload], filename: str = "", format: str = "auto",
    mapping: Mapping[str, Any] | None = None, seed: int = 0, slot_ms: int | None = None, reading: Reading = AS_STATED,
    progress: Callable[[float], None] = lambda _: None, cancelled: Callable[[], bool] = lambda: False,
) -> list[Part]:  # fmt: skip
    """Content of the files, by format, before the selection and sampling; at most one part has jobs, one a cluster."""
    for name, value, least in (("slot_ms", slot_ms, 1), ("seed", seed, 0)):
        if value is not None and not least <= value <= MAX_INT:
            raise ImportRefused(f"{name} must be from {least:,} to {MAX_INT:,}, got {value:,}")
    given = [Upload(uploads, filename)] if isinstance(uploads, Path) else list(uploads)
    with opened(given, _part(progress, 0, 0.5), cancelled) as sources:
        if mapping and format == "auto":
            format = "mapped_csv"
        tick = _ticking(_part(progress, 0.5, 1), cancelled)
        parts = []
        for module, files in _assigned(sources, format).items():
            options = ReadOptions(seed, slot_ms or synthesis.SLOT_MS, tick, mapping, reading)
            try:
                begun = tuple(beginning(source) for source in files[:MAX_BEGINNINGS])
                parts.append(Part(module.FORMAT, files[0].name, _read(module, files, options), begun))
            except (ImportRefused, ModelError) as error:
                raise _about(files[0].name, error) from error
    with_jobs = [part for part in parts if part.read.drafts is not None or part.read.jobs is not None]
    _one(with_jobs, "jobs")
    _one([part for part in parts if part.read.cluster is not None], "machines")
    return with_jobs + [part for part in parts if part not in with_jobs]


def _read(module: ModuleType, files: Sequence[Source], options: ReadOptions) -> Read:
    """Content of the files of one format, in the unit that is wanted, with every line accounted for."""
    wanted, own = options.reading.time_unit, unit_of(module.FORMAT)
    if wanted is not None and not own:
        raise ImportRefused(
            f"time_unit does not apply to the format {module.TITLE}, which states its times as dates or with units; "
            f"it applies to: {_titles(name for name, other in formats().items() if hasattr(other, 'TIME_UNIT'))}"
        )
    with np.errstate(all="ignore"):  # a value beyond every measure is found by the limits
        found: Read = module.read(files, options)
    if getattr(module, "ROW_IS_LINE", True):
        found.lines = check_lines(files, found.rows, options.others.count)
    if wanted is not None and wanted != own and found.drafts is not None:
        found.drafts = in_unit(found.drafts, UNITS[wanted] / UNITS[own])
        found.notes.append(
            f"The numbers that are times are read as {UNIT_NAMES[wanted]}, as selected, not as {UNIT_NAMES[own]}."
        )
    return found


def _one(parts: Sequence[Part], what: str) -> None:
    if len(parts) > 1:
        both = " and ".join(f"{part.file} ({formats()[part.format].TITLE})" for part in parts)
        raise ImportRefused(f"{both} both list {what}; import them one after the other")


def _about(name: str, error: Exception) -> ImportRefused:
    """The refusal with the file's name in it."""
    if isinstance(error, Unclear):
        return error
    return ImportRefused(str(error) if name in str(error) else f"{name}: {error}")


def _part(progress: Callable[[float], None], low: float, high: float) -> Callable[[float], None]:
    return lambda fraction: progress(low + (high - low) * min(1.0, fraction))


def _ticking(progress: Callable[[float], None], cancelled: Callable[[], bool]) -> Callable[[float], None]:
    def tick(fraction: float) -> None:
        if cancelled():
            raise ImportCancelled
        progress(fraction)

    return tick


def _assigned(sources: Sequence[Source], wanted: str) -> dict[ModuleType, list[Source]]:
    """The files by format. A wanted format takes every file that fits no other; a mapping makes any CSV readable."""
    if wanted != "auto" and wanted not in formats():
        raise ImportRefused(f"unknown format {wanted!r}; known: auto, {', '.join(formats())}")
    found: dict[ModuleType, list[Source]] = {}
    unclear: list[tuple[Source, list[Match]]] = []
    for source in sources:
        matches = sniff(source.head)
        fitting = [match.format for match in matches if match.fits]
        if wanted != "auto" and (wanted in fitting or not fitting or len(sources) == 1):
            fitting = [wanted]
        if len(fitting) == 1:
            found.setdefault(formats()[fitting[0]], []).append(source)
        else:
            unclear.append((source, matches))
    log = formats()["swf"]
    for pair in [pair for pair in unclear if pair[0].name.endswith(".machines") and log in found]:
        found[log].append(pair[0])  # its rows are set aside with their reasons
        unclear.remove(pair)
    if unclear:
        source, matches = unclear[0]
        remedy = _remedy(matches, header(source.head))
        raise Unclear(_unclear(source, matches), [_first_lines(source, matches) for source, matches in unclear], remedy)
    return found


def _unclear(source: Source, matches: Sequence[Match]) -> str:
    fitting = [match for match in matches if match.fits]
    if fitting:
        several = _titles(match.format for match in fitting)
        return f"{source.name}: several formats match: {several}; choose one of them"
    nearest = matches[0]
    near = f"; the most similar is {formats()[nearest.format].TITLE}, but {nearest.why}" if nearest.closeness else ""
    first = source.head.strip().splitlines()[0][:120].decode("utf-8", "replace")
    return f"{source.name}: line 1: no known format matches{near}. The file begins with {first!r}"


def _titles(names: Iterable[str]) -> str:
    """Titles of formats, as the page of a trace lists them."""
    return "; ".join(formats()[name].TITLE for name in names)


def _remedy(matches: Sequence[Match], columns: Sequence[str]) -> str:
    """Options of the command line with which the file can be read."""
    fitting = [match.format for match in matches if match.fits]
    if fitting:
        return f"; choose with {' or '.join(f'--format {name}' for name in fitting)}"
    known = f"; known formats: {_titles(formats())}" if matches[0].closeness == 0 else ""
    if len(columns) < 2:
        return known
    listed = ", ".join(columns)[:300]
    columns_named = "if its first line names columns, map them: --map arrival=COLUMN --map run=COLUMN"
    return f"{known}; {columns_named} (columns: {listed})"


def beginning(source: Source) -> dict[str, Any]:
    """First lines of a file, cut and whole, its columns, and the guess of their mapping."""
    whole = [line.decode("utf-8", "replace") for line in first_lines(source.head, SAMPLE_LINES)]
    columns, mark = header(source.head), delimiter(source.head)
    rows = [header(line.encode(), mark) for line in whole[1:]]
    sample = whole if all(len(line) <= MAX_SAMPLE for line in whole) else []
    return {
        "file": source.name, "lines": [line[:MAX_LINE_BYTES] for line in whole[:FIRST_LINES]], "sample": sample,
        "columns": columns, "guess": guess(columns, rows) if 1 < len(columns) <= MAX_COLUMNS else {},
    }  # fmt: skip


def _first_lines(source: Source, matches: Sequence[Match]) -> dict[str, Any]:
    """Data for choosing a file's format: its first lines, the matches, and what the most similar format lacks."""
    near = [
        {"format": m.format, "title": formats()[m.format].TITLE, "why": m.why}
        for m in matches
        if not m.fits and m.closeness > 0
    ]
    fits = [{"format": m.format, "title": formats()[m.format].TITLE} for m in matches if m.fits]
    return {**beginning(source), "fits": fits, "nearest": near[:3]}


def _tables(
    parts: Sequence[Part], choice: Choice, seed: int, slot_ms: int, tick: Callable[[float], None], clamped: Counter[str]
) -> Iterator[JobTable]:
    """The chosen jobs, with what the trace lacks drawn."""
    for part in parts:
        drafts, jobs = part.read.drafts, part.read.jobs
        if drafts is not None:
            rows = choice.rows(drafts.arrival_ms, drafts.known.get("group"), partial(_lots, seed, drafts.keys))
            chosen = drafts.take(rows)
            yield from synthesis.fill(
                replace(chosen, arrival_ms=choice.arrivals(chosen.arrival_ms)), seed, slot_ms, tick, clamped
            )
        elif jobs is not None:
            whole = jobs.take(choice.rows(jobs.columns["arrival_ms"], None, partial(_lots, seed, jobs.ids)))
            yield whole.moved(choice.arrivals(whole.columns["arrival_ms"]))


def _lots(seed: int, keys: np.ndarray) -> np.ndarray:
    """[job] a number that nothing but its id decides."""
    return synthesis.Draws(seed, [str(key) for key in keys.tolist()]).unit("sample")


class _First:
    """Collector of the first jobs, as plain rows."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows: list[dict[str, Any]] = []

    def add(self, table: JobTable) -> None:
        room = self.most - len(self.rows)
        self.rows += [job_to_dict(job) for job in table.take(slice(0, max(0, room))).jobs()]


def _watched(tables: Iterator[JobTable], origins: Origins, preview: _First) -> Iterator[JobTable]:
    def watched(table: JobTable) -> JobTable:
        origins.add(table)
        preview.add(table)
        return table

    return map(watched, tables)  # keeps no table until the next one is made


def first_jobs(parts: Sequence[Part], seed: int, slot_ms: int) -> list[dict[str, Any]]:
    """The first jobs as they will be understood."""
    preview = _First(PREVIEW)
    for table in _tables(parts, Choice(limit=PREVIEW), seed, slot_ms, lambda _: None, Counter()):
        preview.add(table)
    return preview.rows


def cluster_with(cluster: Cluster, slot_ms: int | None, horizon_slots: int | None) -> Cluster:
    """The same machines under another slot length or horizon."""
    changes: dict[str, Any] = {}
    if slot_ms is not None:
        changes["slot_ms"] = slot_ms
    if horizon_slots is not None:
        changes["horizon_slots"] = horizon_slots
    return check_end(replace(cluster, **changes))
