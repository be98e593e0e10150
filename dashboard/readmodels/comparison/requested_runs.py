"""Runs to compare, from the text of the address."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.db.models import QuerySet

from scheduling.model.values import ModelError
from twin.analysis.comparison import MAX_IN_FULL, MAX_RUNS
from twin.models import Run
from twin.runs.deleted import Gone
from twin.scenarios import store

LARGE = (  # fields of the runs, traces and clusters that no comparison shows
    "certificate_prices", "scenario__trace__jobs", "scenario__trace__report", "scenario__trace__skipped_csv",
    "scenario__trace__preview", "scenario__trace__scan", "scenario__cluster__spec",
)  # fmt: skip


class Listed(NamedTuple):
    """Existing runs of a list, in its order, possibly none, and sentences about the missing ones."""

    runs: list[Run]
    lost: list[str]


def listed(text: str, runs: QuerySet[Run], was: Callable[[int], Gone | None]) -> Listed:
    """Runs of `1,2,3` among those that the reader sees; a ModelError states what is wrong with the list.

    was: what a deleted run was, by its number.
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    wrong = [name for name in names if not (name.isdecimal() and len(name) <= 18)]
    if wrong:
        raise ModelError(f"runs must be numbers separated by commas, for example runs=1,2, got {wrong[0][:40]!r}")
    ids = [int(name) for name in names]
    if len(set(ids)) < len(ids):
        raise ModelError(
            f"a run cannot be compared with itself; run {next(i for i in ids if ids.count(i) > 1)} is listed twice"
        )
    if not 2 <= len(ids) <= MAX_RUNS:
        raise ModelError(
            f"a comparison has 2 to {MAX_RUNS:,} runs, as in runs=1,2 (the first {MAX_IN_FULL:,} in full), "
            f"got {len(ids):,}"
        )
    found = runs.select_related("scenario", "scenario__trace", "scenario__cluster").defer(*LARGE).in_bulk(ids)
    lost = [str(was(i) or f"Run {i} does not exist; it may have been deleted.") for i in ids if i not in found]
    kept = [found[i] for i in ids if i in found]
    if len(kept) > 1 and all(store.same(kept[0], run) for run in kept[1:]):
        *others, last = [run.pk for run in kept]
        raise ModelError(
            f"runs {', '.join(map(str, others))} and {last} have identical scenarios: the same "
            "cluster, trace, scheduler, parameters, "
            "seed and edits; edit one of them, or choose another run"
        )
    return Listed(kept, lost)
