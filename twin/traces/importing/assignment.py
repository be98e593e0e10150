"""Assignment of the files of an upload to formats; a file whose format is unclear is described for the user."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from scheduling.kernel.parameters import UnknownName
from twin.traces.importing.drafts import ImportRefused, Source
from twin.traces.importing.formats import MENU, Match, formats, sniff, titles_of
from twin.traces.mappings.guess import guess
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import delimiter, header

FIRST_LINES = 5
MAX_LINE_LENGTH = 300  # characters of a line that is shown
SAMPLE_LINES, MAX_SAMPLE = 11, 4_096  # lines for a column mapping, and characters of each
MAX_COLUMNS = 500  # of which a mapping is guessed


class Unclear(ImportRefused):
    """Failure to select a format because none or two match.

    files: properties of each file for the user; remedy: options of the command line that would help.
    """

    def __init__(self, message: str, files: list[dict[str, Any]], remedy: str) -> None:
        super().__init__(message)
        self.files, self.remedy = files, remedy


def assigned(sources: Sequence[Source], wanted: str) -> dict[ModuleType, list[Source]]:
    """The files by format. A wanted format takes every file that fits no other; a mapping makes any CSV readable."""
    if wanted != "auto":
        try:
            MENU.named(wanted, others=("auto",))
        except UnknownName as error:
            raise ImportRefused(str(error)) from error
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
    swf = formats().get("swf")
    machines = [pair for pair in unclear if swf in found and pair[0].name.endswith(".machines")]
    unclear = [pair for pair in unclear if pair not in machines]
    for source, _ in machines:
        found[formats()["swf"]].append(source)  # its rows are set aside with their reasons
    if unclear:
        source, matches = unclear[0]
        remedy = _remedy(matches, header(source.head))
        raise Unclear(_unclear(source, matches), [_first_lines(source, matches) for source, matches in unclear], remedy)
    return found


def _unclear(source: Source, matches: Sequence[Match]) -> str:
    fitting = [match for match in matches if match.fits]
    if fitting:
        several = titles_of(match.format for match in fitting)
        return f"{source.name}: several formats match: {several}; choose one of them"
    nearest = matches[0]
    near = f"; the most similar is {formats()[nearest.format].TITLE}, but {nearest.why}" if nearest.closeness else ""
    first = source.head.strip().splitlines()[0][:120].decode("utf-8", "replace")
    return f"{source.name}: line 1: no known format matches{near}. The file begins with {first!r}"


def _remedy(matches: Sequence[Match], columns: Sequence[str]) -> str:
    """Options of the command line with which the file can be read."""
    fitting = [match.format for match in matches if match.fits]
    if fitting:
        return f"; choose with {' or '.join(f'--format {name}' for name in fitting)}"
    known = f"; known formats: {titles_of(formats())}" if matches[0].closeness == 0 else ""
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
        "file": source.name, "lines": [line[:MAX_LINE_LENGTH] for line in whole[:FIRST_LINES]], "sample": sample,
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
