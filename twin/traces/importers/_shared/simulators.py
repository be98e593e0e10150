"""Common parts of the traces of Tiresias, Chronus, Muri and ElasticFlow: one gang of GPUs per row.

It has an id, a submission, a duration and a model. They have the same names for times in different units, so a file
fits a dialect only by columns that no other has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from twin.traces.importers._shared.models import known_models
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Skipped, Source
from twin.traces.uploads.tables import Portion, Table

LATEST_MS = 10**14  # absolute Unix times are below it
MAX_RUN_MS = 100 * 366 * 86_400_000  # a century
MAX_GPUS = 100_000
MAX_GROUP_LENGTH = 200  # characters of its name
MAX_BATCH, MAX_ITERATIONS = 10**9, 2**53
ONE_GPU = np.array([1000, -1, -1, -1, -1])
Target = Callable[[Portion], NDArray[np.float64]]  # [row] from the submission on, in the dialect's unit; with gaps


def is_id(text: str) -> bool:
    """True if a job id may hold this text."""
    return 0 < len(text) <= 190 and text.isprintable() and " " not in text and "," not in text


def stray(cells: Sequence[str], columns: Sequence[str]) -> str:
    """Reason why a header with all these columns, and others, is not of their dialect; empty if there are no others."""
    other = [name for name in cells if name not in columns]
    return f"the column {other[0]!r} belongs to another format, which may use another time unit" if other else ""


def gpu_rules(gpus: NDArray[np.float64], column: str) -> tuple[tuple[str, NDArray[np.bool_], str], ...]:
    """(reason, bad rows, column) for numbers of GPUs, as `Portion.sift` takes them."""
    return (
        ("unreadable_gpus", np.isnan(gpus) | (gpus != np.round(gpus)), column),
        ("no_gpu", gpus <= 0, column),
        ("too_many_gpus", gpus > MAX_GPUS, column),
    )


def add_repeated(ids: Sequence[str], seen: set[str]) -> NDArray[np.bool_]:
    """Rows whose id is in `seen` or stands before; the ids join `seen`."""
    repeated = np.zeros(len(ids), dtype=bool)
    for row, name in enumerate(ids):
        repeated[row] = name in seen
        seen.add(name)
    return repeated


def read_gangs(
    sources: Sequence[Source], options: ReadOptions, needed: Sequence[str], unit_ms: int, notes: Sequence[str], *,
    model_origin: str = "trace", group: str | None = None, target: Target | None = None,
) -> Read:  # fmt: skip
    """Rows to drafts.

    needed: job_id, num_gpu, submit_time, duration, model_name, the column of iterations, and what else of the dialect
    is read. unit_ms: of its times. model_origin: trace, or derived where the name is not that of a model. group: the
    column of the virtual cluster.
    """
    skipped, rows, seen = Skipped(), 0, set[str]()
    iterations = next(name for name in needed if name.startswith("iteration"))
    parts: list[NDArray] = []
    names: list[str] = []
    models: list[str] = []
    groups: list[str] = []
    for source in sources:
        table = Table(source, needed, skipped, options)
        for portion in table.portions():
            good, numbers = _rows(portion, seen, skipped, unit_ms, iterations, target)
            chosen = np.flatnonzero(good).tolist()
            names += [portion.columns["job_id"][row] for row in chosen]
            models += [portion.columns["model_name"][row] for row in chosen]
            groups += [_displayable(portion.columns[group][row]) for row in chosen] if group else []
            parts.append(numbers[:, good])
        rows += table.rows
    if not names:
        raise skipped.nothing(sources[0].name, rows)
    submit, run, gpus, steps, batch, target_ms = np.concatenate(parts, axis=1)
    order = np.argsort(submit, kind="stable")
    submit = np.rint(submit[order]).astype(np.int64)
    known = {**known_models(models), "iterations": steps, "global_batch": batch, "target_ms": target_ms}
    if group:
        known["group"] = np.array(groups, dtype=object)
    known = {
        name: column[order] for name, column in known.items() if column.dtype == object or not np.isnan(column).all()
    }
    drafts = Drafts(
        keys=np.array(names, dtype=object)[order], prefix="j", arrival_ms=submit - submit[0],
        run_ms=np.rint(run[order]).astype(np.int64), workers=gpus[order].astype(np.int64),
        demand=np.broadcast_to(ONE_GPU, (len(order), 5)), known=known, origins={
            "arrival_ms": "trace", "requested_workers": "trace", "worker": "trace", "model": model_origin,
            "gradient_mb": "derived", "iterations": "trace", "global_batch": "trace", "target_ms": "trace",
            "group": "trace",
        },
    )  # fmt: skip
    unsized = sorted(
        {
            str(m)
            for m, size in zip(known["model"], known.get("gradient_mb", np.full(len(order), np.nan)), strict=True)
            if size != size
        }
    )
    rules = [
        *notes,
        "One worker has 1 GPU; gradient sizes are the models' parameter counts x 4 bytes. Job jN is job_id N.",
    ]
    if unsized:
        rules.append(
            f"Unknown model sizes: {', '.join(name or 'jobs without a model' for name in unsized[:10])}: "
            "their gradient sizes are sampled."
        )
    return Read(rows, skipped, drafts=drafts, notes=rules)


def _rows(
    portion: Portion, seen: set[str], skipped: Skipped, unit_ms: int, iterations: str, target: Target | None
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Good rows, and [submit ms, run ms, GPUs, iterations, batch, target ms] of every row; the last three with gaps."""
    submit, run = portion.numbers("submit_time") * unit_ms, portion.numbers("duration") * unit_ms
    gpus = portion.numbers("num_gpu")
    ids = portion.columns["job_id"]
    repeated = add_repeated(ids, seen)
    good = portion.sift(skipped, (
        ("unreadable_name", np.array([not is_id(name) for name in ids], dtype=bool), "job_id"),
        ("duplicate_id", repeated, "job_id"),
        ("unreadable_submit_time", ~((submit >= 0) & (submit <= LATEST_MS)), "submit_time"),
        ("unreadable_duration", np.isnan(run), "duration"),
        ("run_not_positive", run < 1, "duration"),
        ("run_too_long", run > MAX_RUN_MS, "duration"),
        *gpu_rules(gpus, "num_gpu"),
    ))  # fmt: skip
    nothing = np.full(len(ids), np.nan)
    steps = _within(portion.numbers(iterations), MAX_ITERATIONS)
    batch = _within(portion.numbers("batch_size"), MAX_BATCH) if "batch_size" in portion.columns else nothing
    target_ms = _within(target(portion) * unit_ms, LATEST_MS) if target else nothing
    return good, np.stack([submit, run, gpus, steps, batch, target_ms])


def _displayable(text: str) -> str:
    """Text; "" if it cannot be displayed."""
    return text if text.isprintable() and len(text) <= MAX_GROUP_LENGTH else ""


def _within(values: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Positive numbers up to `most`; NaN for others."""
    return np.where((values > 0) & (values <= most), values, np.nan)
