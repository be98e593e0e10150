"""Shockwave workload: tab-separated, no header, 12 columns (the traces of uw-mad-dash/shockwave).

Type, command, working directory, argument of the steps, needs a data directory, total steps, scale factor = GPUs, mode
(static, accordion, gns), priority, SLO, duration and arrival in seconds. The duration is that of the job at its first
batch size: in the other modes Shockwave changes the batch size while the job runs. The row number is the id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twin.traces.importers._shared.models import known_models
from twin.traces.importers._shared.simulators import LATEST_MS, MAX_GPUS, MAX_ITERATIONS, MAX_RUN_MS, ONE_GPU
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import Chunk, Table, as_floats

FORMAT = "shockwave"
TITLE = "Shockwave workload"
TIME_UNIT = "s"
NAMES = ("type", "command", "directory", "argument", "data", "steps", "scale", "mode", "priority", "slo", "duration",
         "arrival")  # fmt: skip
USED = ("type", "steps", "scale", "mode", "duration", "arrival")
MODES = ("static", "accordion", "gns")
TYPE = re.compile(r"(.{1,100}?)(?: \(batch size (\d{1,9})\))?")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): the number of columns, a mode, and numbers where steps, scale and times are."""
    lines = [line.decode("utf-8", "replace").split("\t") for line in first_lines(head)]
    width = len(lines[0]) if lines else 0
    if width != len(NAMES):
        return False, f"the first line has {width} cells between tabs, not {len(NAMES)}", 0.0
    good = sum(len(cells) == width and _is_job([cell.strip() for cell in cells]) for cells in lines)
    fits = 2 * good >= len(lines)
    return (
        fits,
        "the cells are those of jobs" if fits else f"only {good} of {len(lines)} lines are jobs",
        good / len(lines),
    )


def _is_job(cells: Sequence[str]) -> bool:
    return cells[7] in MODES and not np.isnan(as_floats([cells[5], cells[6], cells[10], cells[11]])).any()


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first job. A later file continues the row numbers as a new group."""
    skipped, rows, modes = Skipped(), 0, Counter[str]()
    parts: list[NDArray[np.float64]] = []
    families: list[str] = []
    groups: list[str] = []
    for source in sources:
        width = len((first_lines(source.head, 1) or [b""])[0].split(b"\t"))
        if width != len(NAMES):
            raise ImportRefused(
                f"{source.name}: line 1: {width} cells between tabs; a Shockwave workload has {len(NAMES)}"
            )
        table = Table(source, USED, skipped, options, names=NAMES, mark="\t")
        for chunk in table.chunks():
            good, numbers, types = _rows(chunk, skipped)
            numbers[0] += rows
            chosen = np.flatnonzero(good).tolist()
            parts.append(numbers[:, good])
            families += [types[row] for row in chosen]
            groups += [safe_name(source.name)] * len(chosen)
            modes.update(chunk.columns["mode"][row] for row in chosen)
        rows += table.rows
    if not families:
        raise skipped.nothing(sources[0].name, rows)
    number, arrival, run, scale, steps, batch = np.concatenate(parts, axis=1)
    order = np.argsort(arrival, kind="stable")
    arrival = np.rint(arrival[order]).astype(np.int64)
    known = {**known_models(families), "iterations": steps, "global_batch": batch}
    if len(sources) > 1:
        known["group"] = np.array(groups, dtype=object)
    drafts = Drafts(
        keys=number[order].astype(np.int64), prefix="s", arrival_ms=arrival - arrival[0],
        run_ms=np.maximum(1, np.rint(run[order])).astype(np.int64), workers=scale[order].astype(np.int64),
        demand=np.broadcast_to(ONE_GPU, (len(order), 5)), known={name: column[order] for name, column in known.items()},
        origins={
            "arrival_ms": "trace", "requested_workers": "trace", "worker": "trace", "model": "trace",
            "gradient_mb": "derived", "iterations": "trace", "global_batch": "derived",
        },
    )  # fmt: skip
    changing = modes["accordion"] + modes["gns"]
    notes = [
        "Run times are the stated durations at the first batch size on V100 GPUs; "
        f"{changing:,} of {len(families):,} jobs change their batch size while they run (accordion, gns), which is not "
        "kept.",
        "One worker has 1 GPU and the batch size of its job type. Job sN is row N.",
    ]
    return Read(rows, skipped, drafts=drafts, notes=notes)


def _rows(chunk: Chunk, skipped: Skipped) -> tuple[NDArray[np.bool_], NDArray[np.float64], list[str]]:
    """Good rows; [row number, arrival ms, run ms, scale, steps, global batch] and the model family of every row."""
    steps, scale = chunk.numbers("steps"), chunk.numbers("scale")
    arrival, run = chunk.numbers("arrival") * 1000, chunk.numbers("duration") * 1000
    kinds = {text: TYPE.fullmatch(text) for text in set(chunk.columns["type"])}
    split = {text: (match[1], int(match[2] or 0)) if match else ("", 0) for text, match in kinds.items()}
    batch = np.array([split[text][1] for text in chunk.columns["type"]], dtype=float) * scale
    good = chunk.sift(skipped, (
        ("unreadable_steps", ~((steps > 0) & (steps <= MAX_ITERATIONS)), "steps"),
        ("unreadable_arrival", ~((arrival >= 0) & (arrival <= LATEST_MS)), "arrival"),
        ("unreadable_duration", np.isnan(run), "duration"),
        ("run_not_positive", run < 1, "duration"),
        ("run_too_long", run > MAX_RUN_MS, "duration"),
        ("unreadable_gpus", np.isnan(scale) | (scale != np.round(scale)), "scale"),
        ("no_gpu", scale <= 0, "scale"),
        ("too_many_gpus", scale > MAX_GPUS, "scale"),
    ))  # fmt: skip
    batch = np.where((batch > 0) & (batch <= 10**9), batch, np.nan)
    families = [split[text][0] for text in chunk.columns["type"]]
    return good, np.stack([chunk.lines.astype(float), arrival, run, scale, np.rint(steps), batch]), families
