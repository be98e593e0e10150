"""Shockwave workload: tab-separated, no header, 12 columns (the traces of uw-mad-dash/shockwave).

Type, command, working directory, argument of the steps, needs a data directory, total steps, scale factor = GPUs, mode
(static, accordion, gns), priority, SLO, duration and arrival in seconds. The duration is that of the job at its first
batch size: in the other modes Shockwave changes the batch size while the job runs. The row number is the id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.simulators import LATEST_MS, MAX_ITERATIONS, MAX_RUN_MS, gpu_rules
from twin.traces.importers._shared.step_jobs import read_step_jobs, typed
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import Portion, as_floats

FORMAT = "shockwave"
TITLE = "Shockwave workload"
TIME_UNIT = "s"
NAMES = ("type", "command", "directory", "argument", "data", "steps", "scale", "mode", "priority", "slo", "duration",
         "arrival")  # fmt: skip
USED = ("type", "steps", "scale", "mode", "duration", "arrival")
MODES = ("static", "accordion", "gns")


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
        "the cells are those of jobs" if fits else f"only {good:,} of {counted(len(lines), 'line')} are jobs",
        good / len(lines),
    )


def _is_job(cells: Sequence[str]) -> bool:
    return cells[7] in MODES and not np.isnan(as_floats([cells[5], cells[6], cells[10], cells[11]])).any()


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts, and how many jobs change their batch size."""
    modes = Counter[str]()

    def read_portion(portion: Portion, skipped: Skipped) -> tuple[NDArray[np.bool_], NDArray[np.float64], list[str]]:
        good, numbers, models = _rows(portion, skipped)
        modes.update(portion.columns["mode"][row] for row in np.flatnonzero(good).tolist())
        return good, numbers, models

    jobs = read_step_jobs(
        sources, options, {len(NAMES): NAMES}, USED, what=f"a Shockwave workload has {len(NAMES)}", prefix="s",
        read_portion=read_portion, notes=[],
    )  # fmt: skip
    changing = modes["accordion"] + modes["gns"]
    return replace(jobs, notes=[
        "Run times are the stated durations at the first batch size on V100 GPUs; "
        f"the batch size of {changing:,} of {counted(modes.total(), 'job')} changes in the run (accordion, gns), which "
        "is not kept.",
        "One worker has 1 GPU and the batch size of its job type. Job sN is row N.",
    ])  # fmt: skip


def _rows(portion: Portion, skipped: Skipped) -> tuple[NDArray[np.bool_], NDArray[np.float64], list[str]]:
    """Good rows; [row number, arrival ms, run ms, scale, steps, global batch] and the model of every row."""
    steps, scale = portion.numbers("steps"), portion.numbers("scale")
    arrival, run = portion.numbers("arrival") * 1000, portion.numbers("duration") * 1000
    split = typed(portion.columns["type"])
    batch = np.array([split[text].batch for text in portion.columns["type"]], dtype=float) * scale
    good = portion.sift(skipped, (
        ("unreadable_steps", ~((steps > 0) & (steps <= MAX_ITERATIONS)), "steps"),
        ("unreadable_arrival", ~((arrival >= 0) & (arrival <= LATEST_MS)), "arrival"),
        ("unreadable_duration", np.isnan(run), "duration"),
        ("run_not_positive", run < 1, "duration"),
        ("run_too_long", run > MAX_RUN_MS, "duration"),
        *gpu_rules(scale, "scale"),
    ))  # fmt: skip
    batch = np.where((batch > 0) & (batch <= 10**9), batch, np.nan)
    models = [split[text].model for text in portion.columns["type"]]
    return good, np.stack([portion.lines.astype(float), arrival, run, scale, np.rint(steps), batch]), models
