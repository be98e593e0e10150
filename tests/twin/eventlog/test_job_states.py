"""What each job does at each moment of tests/fixtures/job_states.json.

Written by hand; tests/js/core/job-states.test.js reads the same file.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from scheduling.model.values import Event
from twin.analysis.comparison import outcomes
from twin.analysis.situation import queue
from twin.analysis.situation.queue import suspended
from twin.eventlog.fold import BAR_FIELDS, BORN, DIED, NEVER, RunState, snapshot, valid_at
from twin.eventlog.job_states import ABSENT, STATES, job_states
from twin.eventlog.state_codec import decode, encode

PINNED = json.loads((Path(__file__).resolve().parents[2] / "fixtures" / "job_states.json").read_text())
CLUSTER = PINNED["cluster"]  # a real one: job 0 is requeued, job 1 is suspended and job 2 is suspended without its CPUs
# A real one, too: jobs 0 (without bars) and 1 are requeued and end while they wait; the first execution of job 2 is
# reported after its second.
REQUEUED = PINNED["requeued"]
MOMENTS = [(moment["at_ms"], moment["states"]) for moment in PINNED["moments"]]


def events(until_ms: int = 2**62) -> list[Event]:
    """Of the file, as the simulation reports them."""
    found = []
    for seq, at_ms, kind, data in PINNED["events"]:
        found.append(Event(seq, at_ms, kind, data))
    return [event for event in found if event.at_ms <= until_ms]


def words(state: RunState, at_ms: int) -> list[str]:
    """One of each of the nine jobs."""
    codes = np.full(9, ABSENT)
    codes[: state.jobs.length] = job_states(state, at_ms)
    return ["not arrived" if code == ABSENT else STATES[code] for code in codes.tolist()]


def test_the_words_are_those_of_the_file():
    assert list(STATES) == PINNED["states"]
    assert (*STATES, "not arrived") == outcomes.STATES, "comparisons use the same"


@pytest.mark.parametrize(("at_ms", "wanted"), MOMENTS)
def test_the_state_of_every_job(at_ms, wanted):
    """Both looking back from the end and at the newest moment of a run that goes on."""
    assert words(RunState().feed(events()), at_ms) == wanted
    assert words(RunState().feed(events(at_ms)), at_ms) == wanted


def test_a_run_that_was_cancelled_leaves_its_jobs_as_they_were():
    state = RunState().feed(event for event in events() if event.at_ms < 1_000)
    assert words(state, 5_000)[2:5] == ["suspended", "queued", "queued"]


def test_a_job_whose_end_is_still_to_come_is_not_suspended():
    """Events of one instant may come in two frames: the bars have ended, and the completion is in the second one."""
    plan = {"scope": "job", "keys": [0], "jobs": [[0, 0, 100]], "bars": [[0, 0, 0, 0, 100, 1, -1, -1, -1]]}
    started = {"job": 0, "kind": "started", "code": "in_order", "values": {}}
    log = [Event(1, 0, "job_arrived", {"job": 0}), Event(2, 0, "decided", started), Event(3, 0, "plan_changed", plan)]
    state = RunState().feed(log)
    assert words(state, 100)[0] == "running"
    state.feed([Event(4, 100, "job_completed", {"job": 0, "utility": 1.0})])
    assert words(state, 100)[0] == "completed"


def suspended_cluster() -> list[Event]:
    """A real job that runs from 0 on, is suspended from 100 to 200 and from 300 to its end at 400; its bar goes on."""

    def decided(seq: int, at_ms: int, kind: str) -> Event:
        return Event(seq, at_ms, "decided", {"job": 0, "kind": kind, "code": kind, "values": {}})

    def plan(seq: int, at_ms: int, finish_ms: int, end_ms: int) -> Event:
        bars = [[0, 0, 0, 0, end_ms, 1, -1, -1, -1]]
        return Event(seq, at_ms, "plan_changed", {"scope": "observed", "keys": [0], "jobs": [[0, 0, finish_ms]],
                                                  "bars": bars})  # fmt: skip

    return [
        Event(1, 0, "job_arrived", {"job": 0}), decided(2, 0, "started"), plan(3, 0, -1, 2**53),
        decided(4, 100, "suspended"), decided(5, 150, "suspended"), decided(6, 200, "resumed"),
        decided(7, 300, "suspended"), plan(8, 400, 400, 400), decided(9, 400, "ended"),
        Event(10, 400, "job_completed", {"job": 0, "utility": 0.0, "ended_ms": 400}),
    ]  # fmt: skip


@pytest.mark.parametrize("read", [lambda state: state, lambda state: decode(encode(state))])
def test_a_job_that_its_cluster_suspends_is_suspended_although_its_bar_goes_on(read):
    times = {50: "running", 100: "suspended", 199: "suspended", 200: "running", 300: "suspended", 400: "completed"}
    log = suspended_cluster()
    for at_ms, wanted in times.items():
        assert words(read(RunState().feed(log)), at_ms)[0] == wanted
        state = read(RunState().feed(event for event in log if event.at_ms <= min(at_ms, 150)))
        state.feed(event for event in log if event.at_ms <= at_ms)
        assert words(state, at_ms)[0] == wanted
    stated = Event(11, 450, "suspensions_set", {"job": 0, "spans": [[40, 200], [300, -1]]})
    state = read(RunState().feed([*log[:7], stated]))
    assert [words(state, at_ms)[0] for at_ms in (39, 40, 199, 200, 300)] == [
        "running", "suspended", "suspended", "running", "suspended",
    ]  # fmt: skip
    state.feed([Event(12, 500, "decided", {"job": 0, "kind": "resumed", "code": "resumed", "values": {}})])
    assert state.suspension_rows() == [[0, 40, 200], [0, 300, 500]]
    assert [state.suspended_since(at_ms) for at_ms in (39, 40, 199, 200, 300)] == [{}, {0: 40}, {0: 40}, {}, {0: 300}]
    state = RunState().feed(event for event in log if event.at_ms <= 300)
    assert suspended(state, job_states(state, 350), 350).tolist() == [[300, 0]]
    assert snapshot(state)[0]["suspensions"] == [[0, 100, 200], [0, 300, -1]]


@pytest.mark.parametrize("read", [lambda state: state, lambda state: decode(encode(state))])
@pytest.mark.parametrize("log", [CLUSTER, REQUEUED])
def test_a_job_that_its_cluster_requeues_waits_again(read, log):
    for moment in log["moments"]:
        at_ms, wanted = moment["at_ms"], moment["states"]
        for until_ms in (2**62, at_ms):
            state = read(RunState().feed(Event(*event) for event in log["events"] if event[1] <= until_ms))
            assert words(state, at_ms)[: len(wanted)] == wanted, (at_ms, until_ms)
            codes = job_states(state, at_ms)
            curve = queue.curve(state, codes, at_ms, at_ms, 1)
            assert curve["waiting"] == [wanted.count("queued")], (at_ms, until_ms)


def test_a_requeued_job_waits_from_the_end_of_its_last_run_on():
    state = RunState().feed(Event(*event) for event in CLUSTER["events"])
    assert queue.waiting_since(state, np.array([0, 1]), 250).tolist() == [200, 20]
    assert queue.waiting_since(state, np.array([0]), 150).tolist() == [0]
    assert snapshot(state)[0]["restated"] is True


def test_a_group_that_lasted_no_time_ends_no_suspension():
    """A job is in a group from 0 to 100; at 200 it joins another one and leaves it again."""

    def grouped(seq: int, at_ms: int, group: int, jobs: list[int]) -> Event:
        none = [0] * len(jobs)
        data = {"group": group, "servers": [0], "jobs": jobs, "ready_ms": none, "profiling": none}
        return Event(seq, at_ms, "grouped", data)

    log = [
        Event(1, 0, "job_arrived", {"job": 0}), grouped(2, 0, 0, [0]), grouped(3, 100, 0, []),
        grouped(4, 200, 1, [0]), grouped(5, 200, 1, []),
    ]  # fmt: skip
    state = RunState().feed(log)
    assert words(state, 300)[0] == "suspended"
    assert suspended(state, job_states(state, 300), 300).tolist() == [[100, 0]]
    assert suspended(state, job_states(state, 150), 150).tolist() == [[100, 0]]


def test_a_bar_is_valid_from_its_decision_until_a_later_plan_replaces_it():
    bars = np.zeros((3, len(BAR_FIELDS)), dtype=np.int64)
    bars[:, BORN] = 10, 10, 20
    bars[:, DIED] = NEVER, 20, NEVER
    expected = {9: (False, False, False), 10: (True, True, False), 19: (True, True, False), 20: (True, False, True)}
    assert {at_ms: tuple(valid_at(bars, at_ms).tolist()) for at_ms in expected} == expected
