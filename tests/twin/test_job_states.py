"""What each job does at each moment of tests/fixtures/job_states.json.

Written by hand; tests/js/job-states.test.js reads the same file.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from scheduling.model.values import Event
from twin.analysis.comparison import outcomes
from twin.eventlog.fold import RunState
from twin.eventlog.job_states import ABSENT, STATES, job_states

PINNED = json.loads((Path(__file__).resolve().parents[1] / "fixtures" / "job_states.json").read_text())
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
    assert words(state, 5_000)[2:5] == ["suspended", "planned", "queued"]


def test_a_job_whose_end_is_still_to_come_is_not_suspended():
    """Events of one instant may come in two frames: the bars have ended, and the completion is in the second one."""
    plan = {"scope": "job", "keys": [0], "jobs": [[0, 0, 100]], "bars": [[0, 0, 0, 0, 100, 1, -1, -1, -1]]}
    started = {"job": 0, "kind": "started", "code": "in_order", "values": {}}
    log = [Event(1, 0, "job_arrived", {"job": 0}), Event(2, 0, "decided", started), Event(3, 0, "plan_changed", plan)]
    state = RunState().feed(log)
    assert words(state, 100)[0] == "running"
    state.feed([Event(4, 100, "job_completed", {"job": 0, "utility": 1.0})])
    assert words(state, 100)[0] == "completed"
