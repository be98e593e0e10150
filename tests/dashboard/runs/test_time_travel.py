"""Answers about a past moment equal the log folded up to there, and hold nothing of what came later."""

import numpy as np
import pytest

from scheduling.model.bars import JOB
from tests.twin.runtime.queues import work
from twin.eventlog import event_log
from twin.eventlog.fold import ARRIVED, DECIDED_AT, DIED, JOB_FIELDS
from twin.eventlog.job_states import STATES, job_states
from twin.eventlog.stored_states import at
from twin.runs import runner

pytestmark = pytest.mark.django_db


@pytest.fixture
def moments(finished_run) -> list[int]:
    """Five moments from the first arrival to the end, events among them."""
    instants = sorted({event.at_ms for batch in event_log.after(finished_run.pk, 0) for event in batch})
    return [instants[i] for i in np.linspace(0, len(instants) - 1, 4).astype(int)] + [instants[len(instants) // 2] + 1]


def test_the_table_of_jobs(viewer, finished_run, moments):
    for moment in moments:
        then = at(finished_run.pk, at_ms=moment)
        answer = viewer.get(f"/api/runs/{finished_run.pk}/jobs/", {"at_ms": moment, "size": 500}).json()
        codes = job_states(then, moment)
        assert {row["index"]: row["state"] for row in answer["rows"]} == {
            int(i): STATES[codes[i]] for i in np.flatnonzero(codes >= 0)
        }
        for row in answer["rows"]:
            fields = [-1 if row[name] is None else row[name] for name in JOB_FIELDS]
            assert fields == then.jobs.rows[row["index"]].tolist(), (moment, row["id"])
        assert answer["total"] == len(answer["rows"])


@pytest.mark.parametrize("scheduler", ["drf", "dorm", "srtf", "harmony"])
def test_a_job_that_was_stopped_has_no_planned_finish(viewer, make_run, scheduler):
    """Start and finish are those of the plan of that time, not of the bars of the past."""
    run = make_run(scheduler=scheduler, jobs=30, servers=4)
    runner.enqueue(run.pk)
    work()
    instants = sorted({event.at_ms for batch in event_log.after(run.pk, 0) for event in batch})
    open_ended = 0
    for moment in instants[:: max(1, len(instants) // 12)]:
        then = at(run.pk, at_ms=moment)
        for row in viewer.get(f"/api/runs/{run.pk}/jobs/", {"at_ms": moment, "size": 500}).json()["rows"]:
            fields = [-1 if row[name] is None else row[name] for name in JOB_FIELDS[:5]]
            assert fields == then.jobs.rows[row["index"]].tolist()[:5], (moment, row["id"])
            open_ended += row["start_ms"] is not None and row["finish_ms"] is None
    assert open_ended or scheduler == "srtf"


def test_one_jobs_story(viewer, finished_run, moments):
    for moment in moments:
        then = at(finished_run.pk, at_ms=moment)
        for job in range(12):
            story = viewer.get(f"/api/runs/{finished_run.pk}/jobs/{job}/", {"at_ms": moment}).json()
            known = job < then.jobs.length and then.jobs.rows[job, ARRIVED] >= 0
            assert (story["state"] != "not arrived") == known
            assert all(decision["at_ms"] <= moment for decision in story["decisions"])
            assert len(story["decisions"]) == int(known and then.jobs.rows[job, DECIDED_AT] >= 0)
            alive = then.bars.rows[(then.bars.rows[:, JOB] == job) & (then.bars.rows[:, DIED] < 0)]
            assert sorted(map(tuple, story["bars"])) == sorted(map(tuple, alive.tolist()))


def test_a_story_without_a_moment_is_the_newest(viewer, finished_run):
    story = viewer.get(f"/api/runs/{finished_run.pk}/jobs/0/").json()
    last = viewer.get(f"/api/runs/{finished_run.pk}/jobs/0/", {"at_ms": finished_run.sim_ms}).json()
    assert {k: story[k] for k in ("state", "completed_ms", "start_ms", "utility", "decisions")} == {
        k: last[k] for k in ("state", "completed_ms", "start_ms", "utility", "decisions")
    }
    assert story["worth"]["slot_ms"] == 3_600_000


def test_prices_of_the_sites(viewer, finished_run, moments):
    for moment in moments:
        then = at(finished_run.pk, at_ms=moment)
        prices = viewer.get(f"/api/runs/{finished_run.pk}/prices/", {"at_ms": moment}).json()
        assert prices["default_prices"] == then.default_prices
        assert prices["prices"] == [[slot, *then.prices[slot]] for slot in sorted(then.prices)]


def test_prices_of_a_server_before_anything_was_planned_are_0_from_history(viewer, finished_run):
    first = viewer.get(f"/api/runs/{finished_run.pk}/prices/0/", {"at_ms": 0}).json()["prices"]["gpu"]
    last = viewer.get(f"/api/runs/{finished_run.pk}/prices/0/").json()["prices"]["gpu"]
    assert len(set(first)) == 1
    assert max(last) > min(last) > first[0] == 0


def test_payoffs_are_those_of_the_decisions(viewer, finished_run):
    decided = [e for batch in event_log.after(finished_run.pk, 0) for e in batch if e.kind == "decided"]
    answer = viewer.get(f"/api/runs/{finished_run.pk}/payoffs/").json()
    assert answer["last_seq"] == finished_run.last_seq
    assert [job for job, _ in answer["rows"]] == [e.data["job"] for e in decided if "payoff" in e.data["values"]]
    payoffs = [e.data["values"]["payoff"] for e in decided if "payoff" in e.data["values"]]
    assert [payoff for _, payoff in answer["rows"]] == pytest.approx(payoffs, rel=1e-5)
    assert viewer.get(f"/api/runs/{finished_run.pk}/payoffs/", {"after": decided[-1].seq}).json()["rows"] == []


def test_the_event_of_a_moment(viewer, finished_run, moments):
    log = [e for batch in event_log.after(finished_run.pk, 0) for e in batch]
    for moment in moments:
        wanted = [e.seq for e in log if e.at_ms <= moment][-1]
        row = viewer.get(f"/api/runs/{finished_run.pk}/events/table/", {"until_ms": moment, "size": 1}).json()["rows"][
            0
        ]
        assert row["seq"] == wanted
    one = viewer.get(f"/api/runs/{finished_run.pk}/events/table/", {"before": 8, "size": 1}).json()["rows"][0]
    assert one["seq"] == 7
