"""The fold: what a late joiner sees is what somebody who watched all along sees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.model.bars import Placement
from scheduling.model.values import Event
from twin.eventlog import event_log, fold
from twin.eventlog.stored_states import at
from twin.infra.columns import pack, unpack

SLOT = 1_000


def bar(start, end, count=1, job=0, role=0):
    return Placement(job, role, 0, start * SLOT, end * SLOT, count)


def plan(start_ms, finish_ms, *bars):
    return {"scope": "job", "keys": [0], "jobs": [[0, start_ms, finish_ms]], "bars": list(bars)}


# Job 0 gets slots 1-2 and 4-6; at slot 5 it is planned again: the bar in progress is cut, a longer one begins at 7.
EVENTS = [
    Event(1, 0, "run_started", {"scheduler": "x", "slot_ms": SLOT}),
    Event(2, 0, "priced", {"slots": "all", "low": [1.0] * 10, "mean": [2.0] * 10, "high": [3.0] * 10}),
    Event(3, 500, "job_arrived", {"job": 0}),
    Event(4, 1_000, "decided", {"job": 0, "kind": "admitted", "code": "payoff_positive", "values": {}}),
    Event(5, 1_000, "plan_changed", plan(1_000, 6_000, bar(1, 2), bar(4, 6))),
    Event(6, 5_000, "decided", {"job": 0, "kind": "moved", "code": "later", "values": {}}),
    Event(7, 5_000, "plan_changed", plan(1_000, 9_000, bar(7, 9, count=2))),
    Event(
        8, 5_000, "priced", {"slots": [7, 8], "low": [4.0] * 20, "mean": [5.0] * 10 + [6.0] * 10, "high": [7.0] * 20}
    ),
    Event(9, 9_000, "job_completed", {"job": 0, "utility": 12.5}),
    Event(10, 9_000, "run_finished", {}),
]


def rows(folded):
    columns = [fold.BAR_FIELDS.index(name) for name in ("start_ms", "end_ms", "born_ms", "died_ms")]
    return folded.bars.rows[:, columns].tolist()


def test_a_new_plan_cuts_what_runs_and_drops_what_was_ahead():
    folded = fold.RunState().feed(EVENTS)
    assert rows(folded) == [
        [1_000, 2_000, 1_000, -1],
        [4_000, 6_000, 1_000, 5_000],
        [4_000, 5_000, 5_000, -1],
        [7_000, 9_000, 5_000, -1],
    ]


def test_the_picture_at_a_playhead_is_what_was_believed_then():
    bars = fold.RunState().feed(EVENTS).bars.rows
    born, died, end = (bars[:, fold.BAR_FIELDS.index(name)] for name in ("born_ms", "died_ms", "end_ms"))

    def seen(playhead):
        return sorted(end[(born <= playhead) & ((died == -1) | (died > playhead))].tolist())

    assert seen(999) == []
    assert seen(4_500) == [2_000, 6_000]
    assert seen(5_000) == [2_000, 5_000, 9_000]


def test_it_keeps_a_row_for_each_job():
    folded = fold.RunState().feed(EVENTS)
    assert dict(zip(fold.JOB_FIELDS, folded.jobs.rows[0].tolist(), strict=True)) == {
        "arrived_ms": 500, "decided_ms": 1_000, "start_ms": 1_000, "finish_ms": 9_000, "completed_ms": 9_000,
        "utility": 12.5, "rejected_ms": -1,
    }  # fmt: skip
    assert folded.verdicts == [["admitted", "moved", "later"]]
    assert folded.finished


def test_prices_of_named_slots_replace_the_default():
    folded = fold.RunState().feed(EVENTS)
    assert folded.default_prices == [[1.0] * 10, [2.0] * 10, [3.0] * 10]
    assert folded.prices == {7: [[4.0] * 10, [5.0] * 10, [7.0] * 10], 8: [[4.0] * 10, [6.0] * 10, [7.0] * 10]}


def same(a, b):
    (meta_a, columns_a), (meta_b, columns_b) = fold.snapshot(a), fold.snapshot(b)
    assert meta_a == meta_b
    assert all(np.array_equal(columns_a[name], columns_b[name]) for name in columns_a)


def test_the_log_folds_to_the_same_state_however_it_is_read(make_run):
    run = make_run()
    event_log.append(run.pk, 0, EVENTS[:6])
    event_log.append(run.pk, 0, EVENTS[6:])
    same(at(run.pk), fold.RunState().feed(EVENTS))
    same(at(run.pk, 5), fold.RunState().feed(EVENTS[:5]))
    same(at(run.pk, at_ms=1_000), fold.RunState().feed(EVENTS[:5]))
    same(at(run.pk, at_ms=4_999), fold.RunState().feed(EVENTS[:5]))
    same(at(run.pk, at_ms=5_000), fold.RunState().feed(EVENTS[:8]))
    same(at(run.pk, state=at(run.pk, 3)), fold.RunState().feed(EVENTS))


def test_events_that_come_again_change_nothing():
    same(fold.RunState().feed(EVENTS).feed(EVENTS), fold.RunState().feed(EVENTS))


def test_a_snapshot_survives_the_way_to_the_browser():
    meta, columns = unpack(pack(*fold.snapshot(fold.RunState().feed(EVENTS))))
    assert meta["last_seq"] == 10
    assert columns["bars_end_ms"].dtype == np.float64
    assert columns["bars_count"].dtype == np.int32
    assert sorted(columns["bars_count"].tolist()) == [1, 1, 1, 2]


def plans():
    """Times of re-planning, each with the bars of the job's new future."""
    spans = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6)), max_size=4)
    return st.lists(st.tuples(st.integers(0, 4), spans), min_size=1, max_size=6)


@given(plans())
def test_at_every_playhead_the_picture_is_the_newest_plan_and_what_had_happened(steps):
    """Comparison with a fold that keeps only lists.

    At playhead p, this fold holds the past up to the last step at or before p, followed by the plan of that step.
    """
    folded, now, truth, pictures = fold.RunState(), 0, [], []
    for seq, (pause, spans) in enumerate(steps, start=1):
        now += pause
        future = [Placement(0, 0, 0, now + start, now + start + length, 1) for start, length in spans]
        truth = [(b, min(e, now)) for b, e in truth if b < now] + [(bar.start_ms, bar.end_ms) for bar in future]
        folded.feed([Event(seq, now, "plan_changed", plan(min((b for b, _ in truth), default=-1), -1, *future))])
        if pictures and pictures[-1][0] == now:
            pictures.pop()
        pictures.append((now, sorted(truth)))
    bars = folded.bars.rows
    start, end, born, died = (
        bars[:, fold.BAR_FIELDS.index(name)] for name in ("start_ms", "end_ms", "born_ms", "died_ms")
    )
    for at_ms, picture in pictures:
        seen = (born <= at_ms) & ((died == -1) | (died > at_ms))
        assert sorted(zip(start[seen].tolist(), end[seen].tolist(), strict=True)) == picture


def test_an_event_of_an_unknown_kind_is_refused_by_name():
    with pytest.raises(ValueError, match="event 2 has the unknown kind 'quantum_leap'"):
        fold.RunState().feed([EVENTS[0], Event(2, 0, "quantum_leap", {})])
