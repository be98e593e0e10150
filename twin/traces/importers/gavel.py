"""Gavel trace: tab-separated, no header; 7 columns, or 9 or 10 in later versions.

Arrival in seconds, scale factor = GPUs.

7: type, command, argument of the steps, needs a data directory, total steps, arrival, scale factor. 10: type, command,
working directory, argument, data directory, total steps, scale factor, priority, SLO, arrival; 9: the same without the
working directory. Priority and SLO are not used. The row number is the id. The file has no duration: it is steps /
rate, the rate from a table of models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scheduling.reporting.quantities import counted
from twin.traces.importers._shared.simulators import LATEST_MS, MAX_ITERATIONS, MAX_RUN_MS, gpu_rules
from twin.traces.importers._shared.step_jobs import read_step_jobs, typed
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import Portion

FORMAT = "gavel"
TITLE = "Gavel trace"
TIME_UNIT = "s"
NAMES = {
    7: ("type", "command", "argument", "data", "steps", "arrival", "scale"),
    9: ("type", "command", "argument", "data", "steps", "scale", "priority", "slo", "arrival"),
    10: ("type", "command", "directory", "argument", "data", "steps", "scale", "priority", "slo", "arrival"),
}
USED = ("type", "steps", "arrival", "scale")
# (ms a step, ms a sample of the batch) on one V100, after the magnitude
# of the rates that Gavel's authors publish with their scheduler.
RATES = {
    "A3C": (200.0, 0.0), "CycleGAN": (250.0, 0.0), "LM": (9.0, 0.29), "Recommendation": (20.0, 0.018),
    "ResNet-18": (13.0, 0.16), "ResNet-50": (30.0, 3.0), "Transformer": (92.0, 0.37),
}  # fmt: skip
SPEEDUP = 0.6  # n GPUs are n^0.6 times as fast as one


def step_ms(model: str, batch: int, scale: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
    """Milliseconds of one step; NaN for a model that is not in the table."""
    fixed, each = RATES.get(model, (np.nan, np.nan))
    return (fixed + each * batch) / scale**SPEEDUP


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): the number of columns, and numbers where steps, arrival and scale are."""
    lines = [line.decode("utf-8", "replace").split("\t") for line in first_lines(head)]
    width = len(lines[0]) if lines else 0
    if width not in NAMES:
        return False, f"the first line has {width} cells between tabs, not 7, 9 or 10", 0.0
    good = sum(len(cells) == width and _is_job(cells) for cells in lines)
    if 2 * good >= len(lines):
        return True, "the cells are those of jobs", good / len(lines)
    return (
        False,
        f"steps, arrival and scale are numbers in only {good:,} of {counted(len(lines), 'line')}",
        good / len(lines),
    )


def _is_job(cells: Sequence[str]) -> bool:
    named = dict(zip(NAMES[len(cells)], cells, strict=True))
    numbers = [_number(named[name]) for name in ("arrival", "steps", "scale", "type")]
    return (
        numbers[0] >= 0 and numbers[1] > 0 and numbers[2] > 0 and numbers[3] != numbers[3] and " " in named["command"]
    )


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts, with run times from the table of rates."""
    notes = [
        "Run times are derived: total steps / steps per second, from a table of rates on one "
        "V100 by model and batch size; "
        f"n GPUs are assumed to be n^{SPEEDUP} times as fast.",
        "One worker has 1 GPU and the batch size of its job type. Gradient sizes are the models' "
        "parameter counts x 4 bytes. Job gN is row N.",
    ]
    return read_step_jobs(
        sources, options, NAMES, USED, what="a Gavel trace has 7, 9 or 10 columns and no header", prefix="g",
        read_portion=_rows, notes=notes,
    )  # fmt: skip


def _rows(portion: Portion, skipped: Skipped) -> tuple[NDArray[np.bool_], NDArray[np.float64], list[str]]:
    """Good rows; [row number, arrival ms, run ms, scale, steps, global batch] and the model of every row."""
    steps, arrival, scale = portion.numbers("steps"), portion.numbers("arrival") * 1000, portion.numbers("scale")
    split = typed(portion.columns["type"])
    models = [split[text].model for text in portion.columns["type"]]
    single = {text: step_ms(model, batch, 1.0) for text, (model, batch) in split.items()}
    batch = np.array([split[text].batch for text in portion.columns["type"]], dtype=float)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        run = (
            steps
            * np.array([single[text] for text in portion.columns["type"]], dtype=float)
            / np.maximum(scale, 1) ** SPEEDUP
        )
    good = portion.sift(skipped, (
        ("unknown_model", np.array([model not in RATES for model in models], dtype=bool), "type"),
        ("unreadable_steps", np.isnan(steps) | (steps != np.round(steps)) | (steps > MAX_ITERATIONS), "steps"),
        ("run_not_positive", steps <= 0, "steps"),
        ("unreadable_arrival", ~((arrival >= 0) & (arrival <= LATEST_MS)), "arrival"),
        *gpu_rules(scale, "scale"),
        ("run_too_long", run > MAX_RUN_MS, "steps"),
    ))  # fmt: skip
    batch = np.where((batch > 0) & (batch * scale <= 10**9), batch * scale, np.nan)
    return good, np.stack([portion.lines.astype(float), arrival, run, scale, steps, batch]), models
