"""The log: what goes in comes out, nothing twice, and nothing from a worker that lost the run."""

import numpy as np
import pytest

from scheduling.model.bars import Placement
from scheduling.model.values import Event
from twin.eventlog import batch_codec, event_log
from twin.infra.columns import pack
from twin.models import Checkpoint, EventBatch

BARS = [Placement(0, 0, 2, 1_000, 4_000, 3), Placement(0, 1, 5, 1_000, 4_000, 1, worker_slot=2, chunk=7, group=-1)]
EVENTS = [
    Event(1, 0, "run_started", {"scheduler": "fifo", "parameters": {}, "seed": 1, "jobs": 1, "servers": 6}),
    Event(2, 500, "job_arrived", {"job": 0}),
    Event(3, 1_000, "plan_changed", {"scope": "job", "keys": [0], "jobs": [[0, 1_000, 4_000]], "bars": BARS}),
    Event(4, 1_000, "plan_changed", {"scope": "job", "keys": [0], "jobs": [[0, -1, -1]], "bars": []}),
    Event(5, 4_000, "job_completed", {"job": 0, "utility": 0.1}),
]


@pytest.fixture
def run(make_run):
    return make_run()


def log_of(run):
    return [event for batch in event_log.after(run.pk, 0) for event in batch]


def test_it_gives_back_the_same_events():
    assert batch_codec.decode(batch_codec.encode(EVENTS)) == EVENTS


def plan(*bars, scope="job", keys=(0,)):
    return {"scope": scope, "keys": list(keys), "jobs": [[0, bars[0].start_ms, -1]], "bars": list(bars)}


def test_a_bar_takes_what_its_columns_need():
    """Of 1,000 bars of one job in slots: server 1 byte, start and end 2 bytes each in slots; equals are stored once."""
    bars = [Placement(0, 0, place % 100, place * 60_000, (place + 1) * 60_000, 1) for place in range(1_000)]
    one, many = (batch_codec.encode([Event(1, 0, "plan_changed", plan(*some))]) for some in (bars[:2], bars))
    assert len(many) - len(one) < 5_100


def test_plans_of_workers_come_back_as_they_were():
    events = [
        Event(
            7, 5, "plan_changed", plan(Placement(0, 0, 2, 5, 2**40, 1), scope="worker", keys=([0, 2, -1], [1, -2, 0]))
        )
    ]
    (back,) = batch_codec.decode(batch_codec.encode(events))
    assert back.data["keys"] == events[0].data["keys"]
    assert back.data["jobs"] == events[0].data["jobs"]
    assert back.data["bars"].tolist() == [list(bar) for bar in events[0].data["bars"]]


def test_a_log_of_the_version_before_is_refused_with_what_to_do():
    old = pack([[1, 0, "run_started", {}]], {"bars": np.empty((0, 9), dtype=np.int64)})
    with pytest.raises(batch_codec.OldLog, match=r"older version; run `python manage.py migrate`"):
        batch_codec.decode(old)


def test_it_moves_the_counters_of_the_run(run):
    event_log.append(run.pk, 0, EVENTS[:3], next_event_ms=4_000)
    run.refresh_from_db()
    assert (run.last_seq, run.sim_ms, run.next_event_ms) == (3, 1_000, 4_000)


def test_it_adds_nothing_twice(run):
    event_log.append(run.pk, 0, EVENTS[:3])
    event_log.append(run.pk, 0, EVENTS[:3])
    event_log.append(run.pk, 0, EVENTS[1:])  # a replay that overlaps
    assert log_of(run) == EVENTS
    assert list(EventBatch.objects.filter(run=run).values_list("first_seq", "last_seq")) == [(1, 3), (4, 5)]


def test_it_refuses_a_gap(run):
    event_log.append(run.pk, 0, EVENTS[:2])
    with pytest.raises(ValueError, match="event 4 cannot follow 2"):
        event_log.append(run.pk, 0, EVENTS[3:])


def test_it_refuses_a_worker_whose_epoch_is_over(run):
    run.epoch = 2
    run.save()
    with pytest.raises(event_log.LeaseLost, match="lease epoch 1 has ended; the run is at lease epoch 2"):
        event_log.append(run.pk, 1, EVENTS, checkpoint=b"late")
    assert log_of(run) == []
    assert not Checkpoint.objects.filter(run=run).exists()


def test_a_checkpoint_of_a_replay_says_how_far_the_replay_is(run):
    event_log.append(run.pk, 0, EVENTS)
    event_log.append(run.pk, 0, EVENTS[:2], checkpoint=b"behind event 2")
    assert Checkpoint.objects.get(run=run).seq == 2


def test_after_cuts_inside_a_batch_and_stops_at_the_limit(run):
    event_log.append(run.pk, 0, EVENTS[:3])
    event_log.append(run.pk, 0, EVENTS[3:])
    assert [[e.seq for e in batch] for batch in event_log.after(run.pk, 2)] == [[3], [4, 5]]
    assert [[e.seq for e in batch] for batch in event_log.after(run.pk, 0, limit=1)] == [[1, 2, 3]]


def test_events_of_some_kinds_are_read_without_those_of_plans(run):
    event_log.append(run.pk, 0, EVENTS[:3])
    event_log.append(run.pk, 0, EVENTS[3:])
    kinds = ("job_arrived", "job_completed")
    found = list(event_log.lines_of(run.pk, kinds))
    assert found == [(2, 500, "job_arrived", {"job": 0}), (5, 4_000, "job_completed", {"job": 0, "utility": 0.1})]
    assert list(event_log.lines_of(run.pk, kinds, 2)) == found[1:], "after an event in the middle of a batch"
    assert list(event_log.lines_of(run.pk, kinds, up_to_ms=3_999)) == found[:1]
    EventBatch.objects.filter(run=run, first_seq=1).update(payload=pack([[1, 0, "run_started", {}]], {}))
    reads = (
        lambda: event_log.lines_of(run.pk, kinds), lambda: event_log.after(run.pk, 0),
        lambda: event_log.lines_and_bars(run.pk), lambda: [event_log.line_at(run.pk, 1, kinds)],
    )  # fmt: skip
    for read in reads:
        with pytest.raises(batch_codec.OldLog, match=rf"^run {run.pk}: the event log is of an older version; .*a list"):
            list(read())


def test_the_canonical_form_does_not_depend_on_batches(make_run):
    whole, cut = make_run(), make_run()
    event_log.append(whole.pk, 0, EVENTS)
    for event in EVENTS:
        event_log.append(cut.pk, 0, [event])
    lines = list(event_log.canonical(whole.pk))
    assert lines == list(event_log.canonical(cut.pk))
    assert lines[1] == b'{"seq":2,"at_ms":500,"kind":"job_arrived","data":{"job":0}}\n'
    assert b'"bars":[[0,0,2,1000,4000,3,-1,-1,-1],' in lines[2]
