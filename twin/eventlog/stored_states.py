"""States of runs, folded from stored states and later events.

The log alone is the source of truth. A stored state, the fold up to an event, avoids reading all of it and can be
deleted at any time.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When

from twin.eventlog import state_codec
from twin.eventlog.batch_codec import log_of
from twin.eventlog.event_log import lines_and_bars
from twin.eventlog.fold import RunState
from twin.eventlog.large_runs import all_large
from twin.infra import gc_control
from twin.models import FoldedState, Run

MIN_BEHIND = 1_000  # events that an ended run has, and its stored state does not, before it is stored
MAX_BEHIND = 10_000  # minimum for a run in progress
MAX_BEHIND_SHARE = 4  # and this fraction of the stored events: a long run is stored rarely
MAX_STEP = 200_000  # events that are folded before the state is stored again


def at(run_id: int, up_to: int | None = None, state: RunState | None = None, *, at_ms: int | None = None) -> RunState:
    """The state of a run after event `up_to`, or at the end of the instant `at_ms`; with neither, the newest.

    A given `state` is continued, unless a much newer one is stored; it never goes back in time.
    """
    state = _stored(run_id, up_to, at_ms, 0 if state is None else state.last_seq + MAX_BEHIND) or state or RunState()
    with gc_control.paused():  # over all batches: otherwise the collector scans the fold's objects again and again
        for lines, bars in lines_and_bars(run_id, state.last_seq, up_to, at_ms):
            with log_of(run_id):
                state.feed_raw(lines, bars, up_to, at_ms)
    return state


def due() -> int | None:
    """The newest run whose stored state is to be brought up."""
    return all_due().order_by("-pk").values_list("pk", flat=True).first()


def all_due() -> QuerySet[Run]:
    """Runs whose stored states are to be brought up."""
    stored = Case(When(folded__version=state_codec.VERSION, then=F("folded__seq")), default=Value(0))
    runs = Run.objects.exclude(all_large()).annotate(stored=stored).filter(last_seq__gte=F("stored") + MIN_BEHIND)
    behind = Q(last_seq__gte=F("stored") + MAX_BEHIND, last_seq__gt=F("stored") + F("stored") / MAX_BEHIND_SHARE)
    return runs.filter(behind | ~Q(status__in=Run.ACTIVE))


def bring_up(run_id: int) -> None:
    """Storage of the newest state, in steps of MAX_STEP, each kept at once. ValueError for a log without a fold."""
    run = Run.objects.only("last_seq").get(pk=run_id)
    begin = (
        FoldedState.objects.filter(run_id=run_id, version=state_codec.VERSION).values_list("seq", flat=True).first()
        or 0
    )
    state = None
    for up_to in range(begin + MAX_STEP, run.last_seq + MAX_STEP, MAX_STEP):
        state = at(run_id, up_to, state)
        store(run_id, state_codec.VERSION, state.last_seq, state.sim_ms, state_codec.encode(state))


def give_up(run_id: int, version: int = state_codec.VERSION) -> None:
    """Record that the log cannot be folded, so that it is not tried again until the log or the version changes."""
    run = Run.objects.filter(pk=run_id).only("last_seq", "sim_ms").first()
    if run is not None:
        store(run_id, version, run.last_seq, run.sim_ms, b"")


def store(run_id: int, version: int, seq: int, sim_ms: int, payload: bytes) -> None:
    """Replacement of what is stored of a run; nothing for a run that was deleted."""
    fields = {"version": version, "seq": seq, "sim_ms": sim_ms, "payload": payload}
    with transaction.atomic():
        if Run.objects.select_for_update().only("pk").filter(pk=run_id).first() is None:
            return
        FoldedState.objects.update_or_create(run_id=run_id, defaults=fields)


def _stored(run_id: int, up_to: int | None, at_ms: int | None, least: int) -> RunState | None:
    """The stored state if it is not behind the time asked for, and after at least n events."""
    found = FoldedState.objects.filter(run_id=run_id, version=state_codec.VERSION, seq__gte=least)
    if up_to is not None:
        found = found.filter(seq__lte=up_to)
    if at_ms is not None:
        found = found.filter(sim_ms__lte=at_ms)
    payload = found.values_list("payload", flat=True).first()
    return state_codec.decode(payload) if payload else None
