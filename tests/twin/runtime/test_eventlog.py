"""The log: what goes in comes out, nothing twice, and nothing from a worker that lost the run."""

import pytest

from scheduling.model import Event, Placement
from twin import eventlog
from twin.models import Checkpoint, EventBatch

BARS = [Placement(0, 0, 2, 1_000, 4_000, 3), Placement(0, 1, 5, 1_000, 4_000, 1, lane=2, chunk=7, group=-1)]
EVENTS = [
    Event(1, 0, "run_started", {"scheduler": "fifo", "parameters": {}, "seed": 1, "jobs": 1, "servers": 6}),
    Event(2, 500, "job_arrived", {"job": 0}),
    Event(3, 1_000, "planned", {"job": 0, "finish_ms": 4_000, "bars": BARS}),
    Event(4, 1_000, "planned", {"job": 0, "finish_ms": None, "bars": []}),
    Event(5, 4_000, "job_completed", {"job": 0, "utility": 0.1}),
]


@pytest.fixture
def run(make_run):
    return make_run()


def log_of(run):
    return [event for batch in eventlog.after(run.pk, 0) for event in batch]


def test_it_gives_back_the_same_events():
    assert eventlog.decode(eventlog.encode(EVENTS)) == EVENTS


def test_a_bar_takes_seventy_two_bytes():
    one = eventlog.encode([Event(1, 0, "planned", {"job": 0, "finish_ms": 9, "bars": [BARS[0]]})])
    many = eventlog.encode([Event(1, 0, "planned", {"job": 0, "finish_ms": 9, "bars": [BARS[0]] * 1001})])
    assert 72_000 <= len(many) - len(one) <= 72_008  # the count in the header has more digits


def test_it_moves_the_counters_of_the_run(run):
    eventlog.append(run.pk, 0, EVENTS[:3], next_event_ms=4_000)
    run.refresh_from_db()
    assert (run.last_seq, run.sim_ms, run.next_event_ms) == (3, 1_000, 4_000)


def test_it_adds_nothing_twice(run):
    eventlog.append(run.pk, 0, EVENTS[:3])
    eventlog.append(run.pk, 0, EVENTS[:3])
    eventlog.append(run.pk, 0, EVENTS[1:])  # a replay that overlaps
    assert log_of(run) == EVENTS
    assert list(EventBatch.objects.filter(run=run).values_list("first_seq", "last_seq")) == [(1, 3), (4, 5)]


def test_it_refuses_a_gap(run):
    eventlog.append(run.pk, 0, EVENTS[:2])
    with pytest.raises(ValueError, match="event 4 cannot follow 2"):
        eventlog.append(run.pk, 0, EVENTS[3:])


def test_it_refuses_a_worker_whose_epoch_is_over(run):
    run.epoch = 2
    run.save()
    with pytest.raises(eventlog.LeaseLost, match="epoch 1 is over, the run is at epoch 2"):
        eventlog.append(run.pk, 1, EVENTS, checkpoint=b"late")
    assert log_of(run) == []
    assert not Checkpoint.objects.filter(run=run).exists()


def test_a_checkpoint_of_a_replay_says_how_far_the_replay_is(run):
    eventlog.append(run.pk, 0, EVENTS)
    eventlog.append(run.pk, 0, EVENTS[:2], checkpoint=b"behind event 2")
    assert Checkpoint.objects.get(run=run).seq == 2


def test_after_cuts_inside_a_batch_and_stops_at_the_limit(run):
    eventlog.append(run.pk, 0, EVENTS[:3])
    eventlog.append(run.pk, 0, EVENTS[3:])
    assert [[e.seq for e in batch] for batch in eventlog.after(run.pk, 2)] == [[3], [4, 5]]
    assert [[e.seq for e in batch] for batch in eventlog.after(run.pk, 0, limit=1)] == [[1, 2, 3]]


def test_the_canonical_form_does_not_depend_on_batches(make_run):
    whole, cut = make_run(), make_run()
    eventlog.append(whole.pk, 0, EVENTS)
    for event in EVENTS:
        eventlog.append(cut.pk, 0, [event])
    lines = list(eventlog.canonical(whole.pk))
    assert lines == list(eventlog.canonical(cut.pk))
    assert lines[1] == b'{"seq":2,"at_ms":500,"kind":"job_arrived","data":{"job":0}}\n'
    assert b'"bars":[[0,0,2,1000,4000,3,-1,-1,-1],' in lines[2]
