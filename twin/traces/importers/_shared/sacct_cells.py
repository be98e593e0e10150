"""Cells of Slurm's accounting: states, times, durations, resources and memory as sacct prints them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from twin.traces.importing.reading import AS_STATED, Reading

NULLS = {"", "Unknown", "None", "N/A", "INVALID"}
DURATION = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,9}):)?(\d{1,4}):(\d{1,4}(?:\.\d*)?)")
MEMORY = re.compile(r"(\d+(?:\.\d*)?)([KMGTP]?)([nc]?)")
MB = {"K": 2**10 / 1e6, "": 2**20 / 1e6, "M": 2**20 / 1e6, "G": 2**30 / 1e6, "T": 2**40 / 1e6, "P": 2**50 / 1e6}


def state_of(cell: str) -> str:
    """`CANCELLED by 1000` and the cut `CANCELLED+` are CANCELLED."""
    return cell.split(maxsplit=1)[0].rstrip("+") if cell.strip() else ""


def moments_of(cells: Sequence[str], reading: Reading = AS_STATED) -> np.ndarray:
    """ms since 1970 of `2026-11-20T10:00:00`, also with a blank or an offset, and of Unix seconds.

    Of a time with an offset the clock's reading counts.
    """
    import pandas as pd

    stamps = (
        pd.to_datetime(pd.Series(cells, dtype=object), format="%Y-%m-%dT%H:%M:%S", errors="coerce")
        .to_numpy()
        .astype("datetime64[ms]")
    )
    odd = np.isnat(stamps)
    values = np.where(odd, math.nan, stamps.astype(np.int64))
    for i in np.flatnonzero(odd).tolist():
        if cells[i] not in NULLS:
            values[i] = moment_of(cells[i])
    if reading.time_zone is None:
        return values
    is_unix = np.array([cell.isdigit() for cell in cells], dtype=bool)
    return np.where(is_unix, values, reading.utc(values))


def moment_of(cell: str) -> float:
    if cell.isascii() and cell.isdigit():
        return int(cell) * 1000.0 if 9 <= len(cell) <= 10 else math.nan
    try:
        return (
            round(datetime.fromisoformat(cell).replace(tzinfo=UTC).timestamp() * 1000) if len(cell) >= 19 else math.nan
        )
    except (ValueError, OverflowError):
        return math.nan


def duration_of(cell: str) -> float:
    """ms of `1-02:03:04`, `02:03:04` or `03:04`."""
    found = DURATION.fullmatch(cell)
    if not found:
        return math.nan
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)


def tres_of(cell: str) -> tuple[float, float, float]:
    """(GPUs, CPUs, MB) of `billing=8,cpu=8,gres/gpu=4,mem=64G,node=1`.

    Typed GPUs (`gres/gpu:a100=4`) count where the plain sum is not there.
    """
    gpus, typed, cpus, mb = math.nan, Counter[str](), math.nan, math.nan
    for part in cell.split(","):
        name, _, amount = part.strip().partition("=")
        if name == "gres/gpu":
            gpus = _whole(amount)
        elif name.startswith("gres/gpu:"):
            typed[name] += 0 if math.isnan(_whole(amount)) else int(_whole(amount))
        elif name == "cpu":
            cpus = _whole(amount)
        elif name == "mem":
            mb = memory_of(amount)[0]
    if typed and math.isnan(gpus):
        gpus = float(sum(typed.values()))
    stated = not math.isnan(cpus)
    return 0.0 if stated and math.isnan(gpus) else gpus, cpus, mb


def _whole(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 15 else math.nan


def memory_of(text: Any) -> tuple[float, str]:
    """(MB, "n" for each node, "c" for each CPU) of `4000M`, `62.50G` or `16Gn`; MiB without a unit."""
    found = MEMORY.fullmatch(text)
    if not found or len(found[1]) > 15:
        return math.nan, ""
    return float(found[1]) * MB[found[2]], found[3]
