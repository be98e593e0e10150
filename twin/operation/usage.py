"""Usage: how much of each kind of data there is, since when, and by which limit it is removed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Min, QuerySet

from scheduling.run_times.tournament import WINDOW_MS
from twin.alerts.evaluation import KEPT_DAYS
from twin.models import Alert, Forecast, PushedEvent, Run, Scenario, Score
from twin.models.run_modes import modes_where
from twin.operation import retention
from twin.push.storage import KEPT_MS
from twin.studies import demo

DAY_MS = 86_400_000


@dataclass(frozen=True)
class Usage:
    """One kind of data. size: bytes, None where they are not counted; stays: how long it is kept, in words."""

    title: str
    rows: int
    size: int | None
    oldest: datetime | None
    stays: str
    settings: tuple[str, ...] = ()


def usage() -> list[Usage]:
    """All kinds of data, the largest first as a rule."""
    simulated, followed = (Run.objects.filter(mode__in=modes_where(simulated=simulated)) for simulated in (True, False))
    uploads = retention.unimported()
    return [
        _simulated(simulated),
        _runs("runs of live clusters", followed, ("KEEP_HISTORY_DAYS",), "after their end"),
        Usage(
            "uploads without an import", uploads.count(), retention.uploaded_bytes(uploads),
            _oldest(uploads, "touched_at"), _stays("KEEP_UPLOADS_DAYS"), ("KEEP_UPLOADS_DAYS",),
        ),
        *(
            Usage(
                title, model.objects.count(), None, _oldest_ms(model.objects, "made_ms"),
                _forecasts_stay(days),
                ("KEEP_FORECASTS_DAYS",),
            )
            for title, model, days in (
                ("forecasts", Forecast, 4 * WINDOW_MS // DAY_MS), ("scores of forecasts", Score, WINDOW_MS // DAY_MS)
            )
        ),
        Usage("posted events", PushedEvent.objects.count(), None,
              _oldest_ms(PushedEvent.objects, "received_ms"), f"{KEPT_MS // DAY_MS} days"),
        _ended_alerts(),
        Usage("sessions", Session.objects.count(), None, None, "until they expire"),
    ]  # fmt: skip


def _simulated(runs: QuerySet[Run]) -> Usage:
    found = _runs("simulated runs", runs, ("KEEP_RUNS_DAYS", "KEEP_LOGS_GB"), "after their end")
    if not Scenario.objects.filter(name=demo.NAME).exists():
        return found
    return replace(found, stays=f"{found.stays}; of the demo: the newest {demo.MAX_KEPT} that have ended")


def _runs(title: str, runs: QuerySet[Run], names: tuple[str, ...], since: str) -> Usage:
    sizes = retention.sizes(list(runs.values_list("pk", flat=True)))
    return Usage(
        title, len(sizes), sum(sizes.values()), _oldest(runs, "created_at"), _stays(*names, since=since), names
    )


def _ended_alerts() -> Usage:
    ended = Alert.objects.exclude(ended_at=None)
    return Usage("ended alerts", ended.count(), None, _oldest(ended, "ended_at"), f"{KEPT_DAYS} days")


def _forecasts_stay(days: int) -> str:
    """Time for which forecasts are kept. days: limit of those of followed clusters, whatever the setting."""
    stay = _stays("KEEP_FORECASTS_DAYS")
    if 0 < settings.KEEP_FORECASTS_DAYS <= days:
        return stay
    return f"{days} days; of clusters that are no longer followed: {stay}"


def _stays(*names: str, since: str = "") -> str:
    """Time for which something is kept by its settings: `30 days after their end; all logs: at most 5 GB`."""
    parts = []
    for name in names:
        value = getattr(settings, name)
        if value and name.endswith("_DAYS"):
            parts.append(f"{value:g} {'day' if value == 1 else 'days'} {since}".strip())
        elif value:
            parts.append(f"all logs: at most {value:g} GB")
    return "; ".join(parts) or "without limit"


def _oldest(rows: QuerySet[Any], field: str) -> datetime | None:
    found: datetime | None = rows.order_by().aggregate(at=Min(field))["at"]
    return found


def _oldest_ms(rows: Any, field: str) -> datetime | None:
    found = rows.aggregate(at=Min(field))["at"]
    return None if found is None else datetime.fromtimestamp(found / 1000, UTC)
