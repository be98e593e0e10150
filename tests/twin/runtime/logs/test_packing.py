"""Packed logs: the same events, forks, states and frames, from fewer and smaller rows."""

from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connection
from django.utils import timezone

from tests.twin.builders import played_out, scenario_of
from twin.eventlog import event_log, packing, stored_states
from twin.models import EventBatch, Run
from twin.models.log import PACKED
from twin.runs import commands, engine

pytestmark = pytest.mark.django_db(transaction=True)


def stored(run):
    """(first bytes, length) of each batch as the database has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload FROM twin_eventbatch WHERE run_id = %s ORDER BY first_seq", [run.pk])
        return [bytes(row[0]) for row in cursor.fetchall()]


def cut(run, size):
    """The log of the run again, in batches of so many events, as a live run writes them."""
    events = [event for part in event_log.after(run.pk, 0) for event in part]
    EventBatch.objects.filter(run=run).delete()
    for i in range(0, len(events), size):
        part = events[i : i + size]
        EventBatch.objects.create(run=run, first_seq=part[0].seq, last_seq=part[-1].seq, first_ms=part[0].at_ms,
                                  last_ms=part[-1].at_ms, payload=event_log.encode(part))  # fmt: skip


@pytest.mark.parametrize("most", [50, 10_000])
@pytest.mark.parametrize(
    ("profile", "scheduler"), [("oasis", "oasis"), ("a-online", "tiresias_l"), ("harmony", "harmony")]
)
def test_a_packed_log_reads_as_before_and_takes_less(monkeypatch, profile, scheduler, most):
    monkeypatch.setattr(packing, "EVENTS", most)
    run = played_out(commands.start_run(scenario_of(profile, scheduler)))
    cut(run, 3)
    before, lines = stored(run), list(event_log.canonical(run.pk))
    middle = run.sim_ms // 2
    state = stored_states.at(run.pk, at_ms=middle)
    packing.pack(run.pk)
    after = stored(run)
    assert all(part.startswith(PACKED) for part in after)
    assert len(after) < len(before)
    assert sum(map(len, after)) < sum(map(len, before)) / 2
    assert list(event_log.canonical(run.pk)) == lines
    extents = list(EventBatch.objects.filter(run=run).values_list("first_seq", "last_seq", "first_ms", "last_ms"))
    assert (extents[0][0], extents[-1][1]) == (1, run.last_seq)
    assert all(last + 1 == first for (_, last, *_), (first, *_) in pairwise(extents))
    assert all(last - first < max(most, 3) for first, last, *_ in extents)
    again = stored_states.at(run.pk, at_ms=middle)
    assert (again.last_seq, again.bars.rows.tolist()) == (state.last_seq, state.bars.rows.tolist())
    sent = event_log.stored_after(run.pk, 7, 100)
    assert sent[-1][0] == run.last_seq
    assert not any(part.startswith(PACKED) for _, part in sent)  # browsers read batches as they were written
    assert [event.seq for part in event_log.after(run.pk, 7) for event in part] == list(range(8, run.last_seq + 1))


def test_a_fork_of_a_packed_run_is_to_the_byte_that_of_the_run():
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    packing.pack(parent.pk)
    _, fork = commands.fork_and_start(parent.pk, parent.sim_ms // 2, "", [], True)
    engine.forget()
    played_out(fork)
    assert list(event_log.canonical(fork.pk)) == list(event_log.canonical(parent.pk))


def test_only_runs_that_ended_long_ago_are_packed_once():
    old, young, live = (played_out(commands.start_run(scenario_of("oasis", "fifo"))) for _ in range(3))
    long_ago = timezone.now() - timedelta(days=2)
    Run.objects.filter(pk__in=[old.pk, live.pk]).update(finished_at=long_ago)
    Run.objects.filter(pk=live.pk).update(status=Run.PAUSED)
    assert packing.pack_ended() == 1
    assert packing.pack_ended() == 0
    packed = {run.pk: stored(run)[0].startswith(PACKED) for run in (old, young, live)}
    assert packed == {old.pk: True, young.pk: False, live.pk: False}


def test_packing_that_is_stopped_goes_on(monkeypatch):
    run = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    cut(run, 3)
    lines = list(event_log.canonical(run.pk))
    monkeypatch.setattr(packing, "EVENTS", 20)
    real, calls = packing._packed, []

    def stopped(events):
        calls.append(events)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(events)

    monkeypatch.setattr(packing, "_packed", stopped)
    with pytest.raises(KeyboardInterrupt):
        packing.pack(run.pk)
    assert list(event_log.canonical(run.pk)) == lines
    assert Run.objects.get(pk=run.pk).packed_at is None
    calls.clear()
    monkeypatch.setattr(packing, "_packed", lambda events: calls.append(events) or real(events))
    packing.pack(run.pk)
    assert calls[0][0].seq == 37, "what was packed before is not packed again: two groups of 18 events"
    assert list(event_log.canonical(run.pk)) == lines
    assert all(part.startswith(PACKED) for part in stored(run))


def test_a_log_that_cannot_be_packed_does_not_hold_up_the_others():
    bad, good = (played_out(commands.start_run(scenario_of("oasis", "fifo"))) for _ in range(2))
    for age, run in ((3, bad), (2, good)):
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=age))
    EventBatch.objects.filter(run=bad).update(payload=b"nonsense")
    before = stored(bad)
    packing.pack_ended()
    assert stored(bad) == before
    assert stored(good)[0].startswith(PACKED)
    assert packing.pack_ended() == 0
