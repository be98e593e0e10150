"""Downloads of a comparison: metrics.csv and differences.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dashboard.readmodels.comparison.cached import compared
from dashboard.readmodels.comparison.job_differences import MAX_ROWS, filtered, position_of, rows_of
from twin.files.outputs import cell
from twin.models import Run
from twin.runs import scheduler_history


def metric_lines(runs: Sequence[Run], answer: Mapping[str, Any]) -> Iterator[bytes]:
    """metrics.csv: a row per metric, with the value of each run and its difference from the baseline.

    answer: the comparison of the runs (payload.py).
    """
    head = ["metric", "unit", "direction"]
    for run in runs:
        in_charge = scheduler_history.words_of(run, by_name=True)
        head += [f"run {run.pk} {in_charge}", f"run {run.pk} minus run {runs[0].pk}"]
    yield _csv(head)
    for row in answer["metrics"]:
        if not any(value["value"] is not None or value.get("why") for value in row["values"]):
            continue  # the table does not show it, either
        yield _csv(
            [
                row["title"],
                row["unit"],
                row["direction"] or "",
                *(x for v in row["values"] for x in (v["value"], v["delta"])),
            ]
        )


def difference_lines(runs: Sequence[Run], asked: Mapping[str, str]) -> Iterator[bytes]:
    """differences.csv: a row per job that differs; the same filters as the page."""
    found = compared(runs)
    which = position_of(found, asked)
    names = ("state", "start_ms", "finish_ms", "completed_ms", "jct_ms", "utility", "preemptions")
    sides = [f"run {found.sides[i].run_id}" for i in (0, which)]
    yield _csv(["job", "model", "arrived_ms", "kinds", *(f"{side} {name}" for side in sides for name in names)])
    chosen = filtered(found, which, asked)
    for first in range(0, len(chosen), MAX_ROWS):
        for row in rows_of(found, which, chosen[first : first + MAX_ROWS]):
            parts = [row[side][name] for side in ("base", "other") for name in names]
            yield _csv([row["id"], row["model"], row["arrived_ms"], " ".join(row["kinds"]), *parts])


def _csv(cells: Sequence[Any]) -> bytes:
    """One line; a text that a spreadsheet would take for a formula is made harmless."""
    return (",".join(map(_text, cells)) + "\n").encode()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    safe = cell(value)
    return '"' + safe.replace('"', '""') + '"' if any(c in safe for c in ',"\r\n') else safe
