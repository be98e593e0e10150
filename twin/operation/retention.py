"""Retention: what is removed because it is older than its setting allows, or because logs take too much space.

Nothing is removed unless a setting says so, except uploads that were never imported and expired sessions. Active runs,
runs with readers, runs with active forks, and what a connection follows stay in any case.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Length
from django.utils import timezone

from twin.models import Checkpoint, EventBatch, FoldedState, Forecast, Run, Score, Trace
from twin.models.run_modes import modes_where
from twin.moments import unix_ms
from twin.runs import commands, readers
from twin.runs.commands import audit
from twin.traces import import_task

log = logging.getLogger(__name__)
PORTION = 20  # objects that are removed in one transaction; writers wait for it


@dataclass(frozen=True)
class Due:
    """Objects that one rule would remove."""

    rule: str
    setting: str
    subjects: Sequence[Any]  # primary keys
    size: int | None  # bytes of logs with their checkpoints, or of files; None where they are not counted
    named: bool = False  # True for objects with a page of their own


@dataclass(frozen=True)
class Rule:
    """One kind of data: what is due, and how it is removed."""

    title: str
    setting: str
    due: Callable[[datetime, float, set[int]], Sequence[Any]]  # the set: runs that rules before this one remove
    remove: Callable[[Sequence[Any]], None]  # of one portion, within a transaction


def due(now: datetime) -> list[Due]:
    """Objects that each rule with a limit would remove at this moment."""
    found, gone = [], set[int]()
    for rule, limit in _limited():
        subjects = rule.due(now, limit, gone)
        size = None
        if rule.remove is _remove_runs:
            gone |= set(subjects)
            size = sum(sizes(subjects).values()) if subjects else None
        elif rule.remove is _remove_uploads and subjects:
            size = uploaded_bytes(Trace.objects.filter(pk__in=subjects))
        found.append(Due(rule.title, rule.setting, subjects, size, rule.remove in NAMED))
    return found


def apply(now: datetime, record: Callable[[str, int], object] = lambda rule, count: None) -> list[Due]:
    """Removal of what is due; the objects. record: called with each portion, within its transaction."""
    removed = []
    for rule, limit in _limited():  # each looks at what the ones before have left
        if subjects := rule.due(now, limit, set()):
            for first in range(0, len(subjects), PORTION):
                portion = subjects[first : first + PORTION]
                with transaction.atomic():
                    rule.remove(portion)
                    record(rule.title, len(portion))
            log.warning("retention: %s removed: %s", rule.title, len(subjects))
            removed.append(Due(rule.title, rule.setting, subjects, None, rule.remove in NAMED))
    return removed


def _limited() -> list[tuple[Rule, float]]:
    """Rules that have a limit; those without a setting always apply."""
    found = [(rule, getattr(settings, rule.setting) if rule.setting else 0.0) for rule in RULES]
    return [(rule, limit) for rule, limit in found if limit or not rule.setting]


def uploaded_bytes(traces: QuerySet[Trace]) -> int:
    """Bytes of the files of uploads that are still there."""
    return sum(file.get("received", 0) for files in traces.values_list("files", flat=True) for file in files)


def sizes(run_ids: Sequence[int]) -> dict[int, int]:
    """Bytes of the logs, checkpoints and folded states of runs."""
    found = dict.fromkeys(run_ids, 0)
    for model in (EventBatch, Checkpoint, FoldedState):
        rows = model._base_manager.filter(run_id__in=run_ids).order_by().values_list("run_id")
        for run_id, size in rows.annotate(size=Sum(Length("payload"))):
            found[run_id] += size or 0
    return found


def _removable(simulated: bool) -> QuerySet[Run]:
    """Ended runs without active forks and without a connection, oldest first."""
    runs = Run.objects.exclude(status__in=Run.ACTIVE).filter(connections=None)
    runs = runs.filter(mode__in=modes_where(simulated=simulated))
    forked = Run.objects.filter(status__in=Run.ACTIVE, parent__isnull=False).values("parent")
    runs = runs.exclude(pk__in=forked)
    return runs.order_by(Coalesce("finished_at", "created_at"))


def _old_runs(simulated: bool) -> Callable[[datetime, float, set[int]], Sequence[int]]:
    def find(now: datetime, days: float, gone: set[int]) -> Sequence[int]:
        before = now - timedelta(days=days)
        over = Q(finished_at__lt=before) | Q(finished_at=None, created_at__lt=before)
        old = _removable(simulated).filter(over)
        return readers.unread(list(old.values_list("pk", flat=True)))

    return find


def _largest(now: datetime, gigabytes: float, gone: set[int]) -> Sequence[int]:
    """Oldest simulated runs whose removal brings all logs below the limit."""
    size = sizes(list(Run.objects.exclude(pk__in=gone).values_list("pk", flat=True)))
    above = sum(size.values()) - gigabytes * 2**30
    chosen: list[int] = []
    oldest = _removable(simulated=True).exclude(pk__in=gone)
    for run_id in readers.unread(list(oldest.values_list("pk", flat=True))):
        if above <= 0:
            break
        chosen.append(run_id)
        above -= size[run_id]
    return chosen


def _remove_runs(run_ids: Sequence[int]) -> None:
    commands.delete_all(Run.objects.filter(pk__in=run_ids), {"reason": "retention"})


def unimported() -> QuerySet[Trace]:
    """Uploads that were never imported."""
    waiting = (Trace.UPLOADING, Trace.SCANNED, Trace.FAILED, Trace.CANCELLED)
    return Trace.objects.filter(status__in=waiting, scenario=None)


def _old_uploads(now: datetime, days: float, gone: set[int]) -> Sequence[int]:
    old = unimported().filter(touched_at__lt=now - timedelta(days=days))
    return list(old.order_by("pk").values_list("pk", flat=True))


def _remove_uploads(trace_ids: Sequence[int]) -> None:
    """Files first: those of an upload without a row would stay for ever if the worker were killed in between."""
    for trace in unimported().filter(pk__in=trace_ids).only("name", "files"):
        import_task.remove_files(trace)
        audit(None, "trace.delete", f"trace {trace.pk}", {"name": trace.name, "reason": "retention"})
        trace.delete()


def _old_rows(model: Any) -> Callable[[datetime, float, set[int]], Sequence[int]]:
    def find(now: datetime, days: float, gone: set[int]) -> Sequence[int]:
        before_ms = unix_ms(now - timedelta(days=days))
        return list(model.objects.filter(made_ms__lt=before_ms).values_list("pk", flat=True))

    return find


def _remove_rows(model: Any) -> Callable[[Sequence[Any]], None]:
    def remove(keys: Sequence[Any]) -> None:
        model.objects.filter(pk__in=keys).delete()

    return remove


def _ended_sessions(now: datetime, days: float, gone: set[int]) -> Sequence[str]:
    return list(Session.objects.filter(expire_date__lt=now).values_list("pk", flat=True))


NAMED = (_remove_runs, _remove_uploads)
RULES = (
    Rule("runs", "KEEP_RUNS_DAYS", _old_runs(simulated=True), _remove_runs),
    Rule("runs of live clusters", "KEEP_HISTORY_DAYS", _old_runs(simulated=False), _remove_runs),
    Rule("oldest runs beyond the limit of all logs", "KEEP_LOGS_GB", _largest, _remove_runs),
    Rule("uploads without an import", "KEEP_UPLOADS_DAYS", _old_uploads, _remove_uploads),
    Rule("forecasts", "KEEP_FORECASTS_DAYS", _old_rows(Forecast), _remove_rows(Forecast)),
    Rule("scores of forecasts", "KEEP_FORECASTS_DAYS", _old_rows(Score), _remove_rows(Score)),
    Rule("expired sessions", "", _ended_sessions, _remove_rows(Session)),
)


def now() -> datetime:
    """Time that rules compare with."""
    return timezone.now()
