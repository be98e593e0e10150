"""Stored states: a stored state carried on is the one folded from the whole log, and the log alone decides."""

from hashlib import sha256

import numpy as np
import pytest

from scheduling.model.values import Event
from tests.twin.eventlog.builders_golden import EVENTS as GOLDEN
from tests.twin.runtime.queues import messages, work
from twin import ticker
from twin.analysis import state_task
from twin.eventlog import event_log, fold, state_codec, stored_states
from twin.eventlog.stored_states import at
from twin.models import EventBatch, FoldedState, Run

EVENTS = [Event(*row) for row in GOLDEN]
DIGEST = ("38504137fa6ba07c", 10)


def assert_same(one: fold.RunState, other: fold.RunState) -> None:
    """In all that is read from a state."""
    (meta, columns), (meta_there, columns_there) = fold.snapshot(one), fold.snapshot(other)
    assert meta == meta_there
    for name in columns:
        assert np.array_equal(columns[name], columns_there[name]), name
    for name in ("firsts", "decided", "planned"):
        assert np.array_equal(getattr(one, name).rows, getattr(other, name).rows), name


@pytest.fixture
def logged(make_run):
    """logged(count, status) -> a run with the first events of the golden log."""

    def make(count: int, status: str = Run.RUNNING) -> Run:
        run = make_run()
        event_log.append(run.pk, 0, EVENTS[:count])
        Run.objects.filter(pk=run.pk).update(status=status)
        return Run.objects.get(pk=run.pk)

    return make


@pytest.fixture
def few(monkeypatch):
    """What is stored after thousands of events is stored after some."""
    for name, value in (("MIN_BEHIND", 1), ("MAX_BEHIND", 4), ("MAX_STEP", 5)):
        monkeypatch.setattr(stored_states, name, value)


@pytest.mark.parametrize("count", range(len(EVENTS) + 1))
def test_a_state_is_carried_on_after_it_was_stored(count):
    stored = state_codec.decode(state_codec.encode(fold.RunState().feed(EVENTS[:count])))
    assert_same(stored, fold.RunState().feed(EVENTS[:count]))
    assert_same(stored.feed(EVENTS), fold.RunState().feed(EVENTS))


def test_another_layout_or_fold_has_another_version():
    """When this fails: raise state_codec.VERSION, to have stored states made again; then note version and digest."""
    found = sha256(state_codec.encode(fold.RunState().feed(EVENTS))).hexdigest()
    assert (found[:16], state_codec.VERSION) == DIGEST


def test_the_log_behind_a_stored_state_is_folded_onto_it(logged):
    run = logged(12)
    stored_states.bring_up(run.pk)
    assert FoldedState.objects.get(run=run).seq == 12
    EventBatch.objects.all().delete()
    assert_same(at(run.pk), fold.RunState().feed(EVENTS[:12]))
    event_log.append(run.pk, 0, EVENTS[12:])
    assert_same(at(run.pk), fold.RunState().feed(EVENTS))


def test_a_moment_before_the_stored_state_is_read_from_the_log(logged):
    run = logged(len(EVENTS))
    stored_states.bring_up(run.pk)
    assert_same(at(run.pk, up_to=11), fold.RunState().feed(EVENTS[:11]))
    before = [event for event in EVENTS if event.at_ms <= EVENTS[11].at_ms]
    assert_same(at(run.pk, at_ms=EVENTS[11].at_ms), fold.RunState().feed(before))


def test_a_state_in_memory_is_carried_on_unless_it_is_far_behind(logged, few):
    run = logged(12)
    stored_states.bring_up(run.pk)
    near, far = fold.RunState().feed(EVENTS[:9]), fold.RunState().feed(EVENTS[:8])
    assert at(run.pk, state=near) is near
    assert_same(near, fold.RunState().feed(EVENTS[:12]))
    assert at(run.pk, state=far) is not far
    assert_same(at(run.pk, state=far), fold.RunState().feed(EVENTS[:12]))


def test_a_state_of_another_version_is_not_read(logged):
    run = logged(len(EVENTS), Run.FINISHED)
    stored_states.bring_up(run.pk)
    FoldedState.objects.update(version=state_codec.VERSION - 1, payload=b"of another layout")
    assert_same(at(run.pk), fold.RunState().feed(EVENTS))


def test_states_are_due_when_a_run_has_ended_and_as_its_log_grows(logged, few):
    ended, going = logged(2, Run.CANCELLED), logged(3)
    assert stored_states.due() == ended.pk, "three events of a run that goes on are folded when it is looked at"
    stored_states.bring_up(ended.pk)
    assert stored_states.due() is None
    event_log.append(going.pk, 0, EVENTS[3:4])
    assert stored_states.due() == going.pk
    stored_states.bring_up(going.pk)
    assert stored_states.due() is None
    FoldedState.objects.filter(run=ended).update(version=state_codec.VERSION - 1)
    assert stored_states.due() == ended.pk, "it was stored by another version"


def test_a_long_run_is_stored_seldom(logged, monkeypatch):
    """A quarter more than before: what is written grows with the log, not with its square."""
    monkeypatch.setattr(stored_states, "MIN_BEHIND", 1)
    monkeypatch.setattr(stored_states, "MAX_BEHIND", 2)
    run = logged(16)
    stored_states.bring_up(run.pk)
    event_log.append(run.pk, 0, EVENTS[16:20])
    assert stored_states.due() is None
    event_log.append(run.pk, 0, EVENTS[20:21])
    assert stored_states.due() == run.pk


def test_a_long_log_is_stored_step_by_step(logged, few, monkeypatch):
    """What stops it in the middle costs one step."""
    run, steps, store = logged(12), [], stored_states.store

    def noted(run_id, version, seq, *rest):
        steps.append(seq)
        store(run_id, version, seq, *rest)

    monkeypatch.setattr(stored_states, "store", noted)
    stored_states.bring_up(run.pk)
    assert steps == [5, 10, 12]
    assert_same(at(run.pk), fold.RunState().feed(EVENTS[:12]))


def test_the_ticker_asks_for_one_state_at_a_time(logged, few, layer):
    run, older = logged(12, Run.FINISHED), logged(12, Run.FINISHED)
    run, older = older, run
    asking = state_task.Requests()
    assert asking.refresh() == [run.pk]
    assert asking.refresh() == [], "asked for once"
    assert work(state_task.QUEUE) == 1
    assert FoldedState.objects.get().run_id == run.pk
    assert asking.refresh() == [older.pk]
    work(state_task.QUEUE)
    assert asking.refresh() == []
    ticker.Ticker()._slowly()
    assert "store_state" not in [name.rpartition(".")[2] for name, _ in messages(state_task.QUEUE)]


def test_a_log_that_cannot_be_folded_is_not_tried_again(logged, few, layer):
    run = logged(4, Run.FAILED)
    event_log.append(run.pk, 0, [Event(5, EVENTS[3].at_ms, "quantum_leap", {})])
    assert stored_states.due() == run.pk
    state_task.run(run.pk)
    assert stored_states.due() is None
    with pytest.raises(ValueError, match=rf"^run {run.pk}: event 5 has the unknown kind 'quantum_leap'"):
        at(run.pk)


def test_a_state_of_a_deleted_run_is_not_stored(logged):
    run = logged(4, Run.FINISHED)
    stored_states.bring_up(run.pk)
    number = run.pk
    run.delete()
    assert not FoldedState.objects.exists()
    stored_states.store(number, state_codec.VERSION, 4, 0, b"late")
    stored_states.give_up(number)
    assert not FoldedState.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_computation_that_dies_is_given_up(logged, few, monkeypatch):
    run = logged(12, Run.FINISHED)
    monkeypatch.setattr(state_task, "run", lambda run_id: 1 / 0)
    state_task.work_off(run.pk)
    assert FoldedState.objects.get(run=run).payload == b""
    assert stored_states.due() is None
    assert_same(at(run.pk), fold.RunState().feed(EVENTS[:12]))
