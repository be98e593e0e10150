"""Guess of a column mapping: fields by the names of columns, units by the values of the first rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from twin.traces.importing.fields import DATETIME, FIELDS
from twin.traces.importing.reading import AS_STATED, UNITS
from twin.traces.uploads import cells as forms

# common names of the columns of a field, the most specific first, in the order in which fields take their columns
HINTS = {
    "arrival": ("arrival", "submit", "submission", "creation", "created", "queued", "timestamp", "time"),
    "run": ("runtime", "duration", "run", "elapsed", "walltime"),
    "start": ("start", "begin", "launch"),
    "end": ("end", "finish", "completion", "deletion"),
    "id": ("jobid", "id", "jobname", "job", "name"),
    "workers": ("workers", "worker", "nodes", "instnum", "scale"),
    "gpus": ("gpus", "gpunum", "numgpu", "gpu", "procs"),
    "cpus": ("cpus", "vcpu", "cpunum", "numcpu", "cpu", "cores"),
    "memory_gb": ("memorygb", "memory", "mem", "ram"),
    "model": ("modelname", "model", "network"),
    "group": ("vc", "virtualcluster", "queue", "partition", "group"),
    "user": ("user", "owner"),
    "status": ("status", "state", "phase"),
}
SUFFIXES = {
    "us": ("us", "usec", "micros", "microseconds"), "ms": ("ms", "msec", "millis", "milliseconds"),
    "s": ("s", "sec", "secs", "seconds"), "min": ("min", "mins", "minutes"), "h": ("h", "hr", "hrs", "hours"),
    "d": ("d", "days"),
}  # fmt: skip
EPOCHS = (("us", 1e15), ("ms", 1e12), ("s", 1e9))  # numbers since 1970, between 1 and 4 times this
MEMORY = (("B", 1e8), ("KB", 1e6), ("MB", 2000.0))  # a median above it is of this unit
LONG_RUN = (("us", 1e9), ("ms", 3e6))  # a median run time above it is of this unit


def guess(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """{field: column} by the columns' names, and settings by the values. A column is used once."""
    plain = [re.sub(r"[^a-z0-9]", "", column.lower()) for column in columns]
    used: set[int] = set()
    mapping: dict[str, str] = {}
    for field in (name for name in HINTS if name in FIELDS):
        at = next((at for hint in HINTS[field] if (at := _column(plain, hint, used)) is not None), None)
        if at is not None:
            used.add(at)
            mapping[field] = columns[at]
    values = {
        field: [row[columns.index(column)].strip() for row in rows if len(row) >= len(columns)]
        for field, column in mapping.items()
    }
    filled = {field: [cell for cell in found if cell] for field, found in values.items()}
    with np.errstate(all="ignore"):  # values beyond every measure
        return mapping | _settings(mapping, filled)


def _column(plain: Sequence[str], hint: str, used: set[int]) -> int | None:
    """The column that has this name, or begins with it."""
    free = [at for at in range(len(plain)) if at not in used]
    exact = next((at for at in free if plain[at] == hint), None)
    if exact is not None or len(hint) <= 2:
        return exact
    return next((at for at in free if plain[at].startswith(hint)), None)


def _settings(mapping: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    times = values.get("arrival", ())
    if times and forms.is_date(times[0]):
        found["arrival_unit"] = DATETIME
        every = [cell for name in ("arrival", "start", "end") for cell in values.get(name, ())]
        if order := forms.order_of_dates(every):
            found["date_order"] = order
    elif times:
        found["arrival_unit"] = _suffix(mapping["arrival"]) or _epoch(times) or "s"
    if "run" in mapping and values["run"]:
        stated = _suffix(mapping["run"]) or _by_ends(mapping, values, found)
        found["run_unit"] = stated or _by_size(values["run"], LONG_RUN) or "s"
    if "memory_gb" in mapping and values["memory_gb"]:
        found["memory_unit"] = _memory(mapping["memory_gb"]) or _by_size(values["memory_gb"], MEMORY) or "GB"
    return found


def _suffix(column: str) -> str:
    """Unit at the end of a name, such as run_ms or duration (min)."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).lower())
    last = words[-1] if len(words) > 1 else ""
    return next((unit for unit, names in SUFFIXES.items() if last in names), "")


def _memory(column: str) -> str:
    found = re.search(r"(?:^|[^a-zA-Z])([KMG]i?B|bytes)\)?$", column, re.IGNORECASE)
    word = found[1].lower() if found else ""
    return {"kb": "KB", "kib": "KiB", "mb": "MB", "mib": "MiB", "gb": "GB", "gib": "GiB", "bytes": "B"}.get(word, "")


def _epoch(cells: Sequence[str]) -> str:
    values = forms.numbers(cells)
    median = float(np.nanmedian(values)) if not np.isnan(values).all() else 0.0
    return next((unit for unit, least in EPOCHS if least <= median < 4 * least), "")


def _by_size(cells: Sequence[str], limits: Sequence[tuple[str, float]]) -> str:
    values = forms.numbers(cells)
    if np.isnan(values).all():
        return ""  # durations or amounts with their units
    median = float(np.nanmedian(values))
    return next((unit for unit, least in limits if median > least), "")


def _by_ends(mapping: Mapping[str, str], values: Mapping[str, Sequence[str]], found: Mapping[str, str]) -> str:
    """The unit in which the run times are the ends - the starts; "" where there are none, or none fits."""
    if not {"start", "end"} <= mapping.keys() or not values["start"] or len(values["start"]) != len(values["end"]):
        return ""
    if found.get("arrival_unit") == DATETIME:
        order = found.get("date_order", forms.DAY)
        start, end = (forms.dates(values[name], order, AS_STATED) for name in ("start", "end"))
    else:
        factor = UNITS[found.get("arrival_unit", "s")]
        start, end = (forms.numbers(values[name]) * factor for name in ("start", "end"))
    run = forms.numbers(values["run"])
    if len(run) != len(start):
        return ""
    span = end - start
    good = (span > 0) & (run > 0)
    if not good.any():
        return ""
    ratio = float(np.median(span[good] / run[good]))
    return next((unit for unit, ms in UNITS.items() if abs(ratio / ms - 1) < 0.05), "")
