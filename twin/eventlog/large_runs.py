"""Large runs: those whose state would take too much memory of a web process. Pages show them by level of detail."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q

from scheduling.model.values import ModelError
from twin.models import Run
from twin.models.run_modes import modes_where


class TooLarge(ModelError):
    """Refusal to fold the whole state of a large run. code: by which programs recognise it."""

    code = "large_run"


def is_large(run: Run) -> bool:
    """True if the state of the run is not folded for pages. A run that follows a clock is not large before its end."""
    rules = run.mode_rules
    by_clock = rules.continued or (rules.paced and run.status in Run.ACTIVE)
    return not by_clock and run.last_seq > settings.LARGE_RUN_EVENTS


def all_large() -> Q:
    """The same as a filter of runs."""
    by_clock = Q(mode__in=modes_where(continued=True)) | Q(mode__in=modes_where(paced=True), status__in=Run.ACTIVE)
    return Q(last_seq__gt=settings.LARGE_RUN_EVENTS) & ~by_clock


def check(run: Run) -> None:
    """TooLarge for a large run."""
    if is_large(run):
        raise TooLarge(
            f"Run {run.pk} has {run.last_seq:,} events; this view needs its whole state, which is limited to "
            f"{settings.LARGE_RUN_EVENTS:,} events (LARGE_RUN_EVENTS). Its page shows totals over intervals (levels of "
            f"detail), and its log is complete: /api/runs/{run.pk}/events.jsonl"
        )
