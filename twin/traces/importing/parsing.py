"""Content of the files of an upload, by format, before the selection and sampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from scheduling.model.values import ModelError
from twin.traces import synthesis
from twin.traces.importing.assignment import Unclear, assigned, beginning
from twin.traces.importing.choice import MAX_INT
from twin.traces.importing.drafts import ImportCancelled, ImportRefused, Read, ReadOptions, Source
from twin.traces.importing.formats import formats, titles_of, unit_of
from twin.traces.importing.reading import AS_STATED, UNIT_NAMES, UNITS, Reading
from twin.traces.importing.report import check_lines, in_unit
from twin.traces.uploads.openfile import Upload, opened

MAX_BEGINNINGS = 5  # files of a format whose first lines are kept


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
    with opened(given, part_of(progress, 0, 0.5), cancelled) as sources:
        if mapping and format == "auto":
            format = "mapped_csv"
        tick = ticking(part_of(progress, 0.5, 1), cancelled)
        parts = []
        for module, files in assigned(sources, format).items():
            options = ReadOptions(seed, slot_ms or synthesis.SLOT_MS, tick, mapping, reading)
            try:
                begun = tuple(beginning(source) for source in files[:MAX_BEGINNINGS])
                parts.append(Part(module.FORMAT, files[0].name, _read(module, files, options), begun))
            except (ImportRefused, ModelError) as error:
                raise named_refusal(files[0].name, error) from error
    with_jobs = [part for part in parts if part.read.drafts is not None or part.read.jobs is not None]
    _one(with_jobs, "jobs")
    _one([part for part in parts if part.read.cluster is not None], "servers")
    return with_jobs + [part for part in parts if part not in with_jobs]


def _read(module: ModuleType, files: Sequence[Source], options: ReadOptions) -> Read:
    """Content of the files of one format, in the unit that is wanted, with every line accounted for."""
    wanted, own = options.reading.time_unit, unit_of(module.FORMAT)
    if wanted is not None and not own:
        raise ImportRefused(
            f"time_unit does not apply to the format {module.TITLE}, which states its times as dates or with units; "
            f"it applies to: {titles_of(name for name, other in formats().items() if hasattr(other, 'TIME_UNIT'))}"
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


def named_refusal(name: str, error: Exception) -> ImportRefused:
    """The refusal with the file's name in it."""
    if isinstance(error, Unclear):
        return error
    return ImportRefused(str(error) if name in str(error) else f"{name}: {error}")


def part_of(progress: Callable[[float], None], low: float, high: float) -> Callable[[float], None]:
    """Progress of a step that goes from low to high of the whole."""
    return lambda fraction: progress(low + (high - low) * min(1.0, fraction))


def ticking(progress: Callable[[float], None], cancelled: Callable[[], bool]) -> Callable[[float], None]:
    """Progress that ends an import which was cancelled."""

    def tick(fraction: float) -> None:
        if cancelled():
            raise ImportCancelled
        progress(fraction)

    return tick
