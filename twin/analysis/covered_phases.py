"""Phases that a metric of a run covers where schedulers of other models were in charge of the rest."""

from __future__ import annotations

from typing import NamedTuple

from scheduling.reporting.metric_table import METRICS, RUN
from scheduling.reporting.metrics import PARTS
from twin.models import Run
from twin.runs import scheduler_history
from twin.runs.scheduler_history import InCharge

Span = tuple[int, int | None]  # from and until in ms; None: the end of the run
MODEL_OF = {part.name: model for model, part in PARTS.items()}
OF_ALL_PHASES = ("lanes.job_suspensions",)


class Covered(NamedTuple):
    """Part of a run that a metric covers."""

    spans: list[Span]
    title: str  # 'under Harmony'
    text: str  # 'only under Harmony, until 06:00:00'


def covered(run: Run) -> dict[str, Covered]:
    """Part of the run by the key of each metric that does not cover the whole run."""
    charges = scheduler_history.in_charge(run)
    if len(charges) == 1:
        return {}
    found = {}
    for metric in METRICS:
        counts = [_counts(metric.key, one) for one in charges]
        if metric.scope == RUN and any(counts) and not all(counts):
            found[metric.key] = _covered(run, charges, counts)
    return found


def _counts(key: str, one: InCharge) -> bool:
    """True if the metric covers the time in which this scheduler was in charge."""
    part, _, name = key.partition(".")
    if part == "utilization":
        return name in one.rules.packs
    return part not in MODEL_OF or key in OF_ALL_PHASES or one.rules.model.name == MODEL_OF[part]


def _covered(run: Run, charges: list[InCharge], counts: list[bool]) -> Covered:
    begins = [one.charge.from_ms for one in charges]
    spans: list[Span] = []
    since: int | None = None
    for begin, counted in zip(begins, counts, strict=True):
        if counted and since is None:
            since = begin
        elif not counted and since is not None:
            spans.append((since, begin))
            since = None
    if since is not None:
        spans.append((since, None))
    names = dict.fromkeys(one.charge.title for one, counted in zip(charges, counts, strict=True) if counted)
    title = f"under {' and '.join(names)}"
    return Covered(spans, title, f"only {title}, {' and '.join(_words(run, span) for span in spans)}")


def _words(run: Run, span: Span) -> str:
    begin, end = span
    if end is None:
        return f"from {run.moment(begin)} on"
    return f"from {run.moment(begin)} to {run.moment(end)}" if begin else f"until {run.moment(end)}"
