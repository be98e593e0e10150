"""Retention of sets of shadows: the newest one, one per hour for a day, one per day for a week."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from twin.models import Connection, ShadowSet
from twin.runs import readers
from twin.studies.shadows import sets

HOURLY, DAILY = timedelta(days=1), timedelta(days=7)


def thin(connection: Connection, purpose: str = ShadowSet.SHADOWS) -> int:
    """Removal of the sets of a purpose that are not kept; their number. A set that somebody reads stays until later."""
    own = connection.shadow_sets.filter(purpose=purpose)
    over = list(own.exclude(status__in=ShadowSet.ACTIVE).prefetch_related("shadows"))
    usable = [of for of in over if of.status == ShadowSet.FINISHED]
    kept = {usable[place].pk for place in keep([of.created_at for of in usable], timezone.now())}
    kept |= {of.pk for of in over[:1]}  # the newest one, even if it failed: the page states why
    gone = [of for of in over if of.pk not in kept and _unread(of)]
    sets.remove(gone)
    return len(gone)


def keep(times: Sequence[datetime], now: datetime) -> set[int]:
    """Indices of the sets to keep. times: newest first; of each hour and day the newest one is kept."""
    kept: set[int] = set()
    seen: set[tuple[str, int]] = set()
    for place, at in enumerate(times):
        age = now - at
        if age >= DAILY:
            continue
        unit = ("hour", int(at.timestamp()) // 3_600) if age < HOURLY else ("day", int(at.timestamp()) // 86_400)
        if place == 0 or unit not in seen:
            kept.add(place)
        seen.add(unit)
    return kept


def _unread(of: ShadowSet) -> bool:
    runs = [shadow.run_id for shadow in of.shadows.all() if shadow.run_id is not None]
    return len(readers.unread(runs)) == len(runs)
