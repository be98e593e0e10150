"""Time travel and downloads of a mirrored run, rechecked by the verifier where it applies."""

from __future__ import annotations

import json

import pytest

from tests.dashboard.builders import downloaded
from tests.twin.mirror.builders_stored import POLLS, following, write
from tests.twin.mirror.whatif.builders_forty import at, mirrored_run
from twin.connectors.facts import ENDED
from twin.eventlog import event_log
from twin.eventlog.state_cache import Newest
from twin.management.commands.verify import problems_of
from twin.mirror import stored
from twin.models import Connection

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_schedule_is_that_of_the_history(operator, tmp_path):
    """The files of `follow --out` with schedule.csv as the page gives it: the verifier holds it against the log."""
    run = mirrored_run()
    assert write(stored.load_run(run), tmp_path) == []
    schedule = (tmp_path / "schedule.csv").read_text()
    (tmp_path / "schedule.csv").write_bytes(downloaded(operator.get(f"/api/runs/{run.pk}/schedule.csv")))
    assert problems_of(tmp_path) == []
    lines = (tmp_path / "schedule.csv").read_text().splitlines()
    assert len(lines) == len(schedule.splitlines()) == 4
    (tmp_path / "schedule.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert problems_of(tmp_path), "a bar that is missing is found"


def test_the_log_is_complete_and_in_order(operator):
    run = mirrored_run()
    rows = [json.loads(line) for line in downloaded(operator.get(f"/api/runs/{run.pk}/events.jsonl")).splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, run.last_seq + 1))
    kinds = {row["kind"] for row in rows}
    assert kinds >= {"job_added", "server_added", "server_changed", "plan_changed", "job_completed"}
    assert [row["at_ms"] for row in rows] == sorted(row["at_ms"] for row in rows)
    assert downloaded(operator.get(f"/api/runs/{run.pk}/events.jsonl")) == b"".join(event_log.canonical(run.pk))


def test_perfetto_summary_and_groups(operator):
    run = mirrored_run()
    trace = json.loads(downloaded(operator.get(f"/api/runs/{run.pk}/perfetto.json")))
    bars = [row for row in trace["traceEvents"] if row["ph"] == "X"]
    assert {row["args"]["job"] for row in bars} == {"1", "2"}
    assert max(row["ts"] + row["dur"] for row in bars) == run.sim_ms * 1000, "nothing is drawn into the future"
    summary = operator.get(f"/api/runs/{run.pk}/summary.json").json()
    assert (summary["scheduler"], summary["execution"]["model"]) == ("observed", "observed")
    metrics = summary["metrics"]
    assert (metrics["jobs"], metrics["completed"], metrics["rejected"]) == (4, 1, 0)
    assert metrics["mean_jct_ms"] == 1_500_000
    assert {"admitted", "suspensions", "preemptions", "total_utility"}.isdisjoint(metrics)
    answer = operator.get(f"/api/runs/{run.pk}/groups.csv")
    assert answer.status_code == 404
    assert "only runs whose scheduler co-locates jobs" in answer.json()["detail"]


def test_time_travel_shows_what_was_known_then(operator):
    run = mirrored_run()

    def states(second):
        answer = operator.get(f"/api/runs/{run.pk}/jobs/?at_ms={at(run, second)}")
        assert answer.status_code == 200, answer.content
        return {row["id"]: row["state"] for row in answer.json()["rows"]}

    assert states(300) == {"1": "running", "2": "queued", "3": "queued"}
    assert states(700) == {"1": "running", "2": "running", "3": "queued"}
    assert states(1_811) == {"1": "completed", "2": "running", "3": "queued", "4": "queued"}
    newest_ms = operator.get(f"/api/runs/{run.pk}/jobs/").json()["at_ms"]
    for one in ("jobs/", "jobs/2/", "prices/"):
        assert operator.get(f"/api/runs/{run.pk}/{one}?at_ms={newest_ms + 60_000}").json()["at_ms"] == newest_ms, one
    story = operator.get(f"/api/runs/{run.pk}/jobs/2/?at_ms={at(run, 800)}").json()
    assert any("on hold" in row["sentence"] for row in story["decisions"]), story["decisions"]
    now = operator.get(f"/api/runs/{run.pk}/now/").json()["jobs"]
    assert (now["running"], now["queued"], now["completed"]) == (1, 2, 1)
    events = operator.get(f"/api/runs/{run.pk}/events/table/?until_ms={at(run, 700)}").json()["rows"]
    assert all(row["at_ms"] <= at(run, 700) for row in events)
    assert stored.load_run(run).jobs[0].fact.state == ENDED


def test_before_the_first_poll_no_state_of_a_job_is_known(operator):
    """Jobs ran and waited, but nobody observed it: the log has only those that were still open at the first poll."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    following(connection, POLLS[0]).apply(POLLS[0])
    connection.refresh_from_db()
    run = connection.run
    with Newest(run) as state:
        seen_ms = state.seen_from_ms

    def rows(at_ms, **asked):
        answer = operator.get(f"/api/runs/{run.pk}/jobs/", {"at_ms": at_ms, **asked})
        return {row["id"]: (row["state"], row["start_ms"]) for row in answer.json()["rows"]}

    before, then = rows(seen_ms - 1), rows(seen_ms)
    assert before == {"1": (None, None), "2": (None, None)}, "they were submitted before"
    assert {state for state, _ in then.values()} == {"running", "queued"}
    assert rows(seen_ms - 1, state="queued") == {}
    story = operator.get(f"/api/runs/{run.pk}/jobs/0/", {"at_ms": seen_ms - 1}).json()
    assert (story["state"], story["decisions"]) == (None, [])


def test_a_job_that_has_ended_keeps_its_decisions(operator):
    """The twin learns of an end after it: the decision is later than the completion."""
    run = mirrored_run()
    rows = operator.get(f"/api/runs/{run.pk}/jobs/", {"state": "completed"}).json()["rows"]
    story = operator.get(f"/api/runs/{run.pk}/jobs/{rows[0]['index']}/").json()
    assert [decision["kind"] for decision in story["decisions"]][-1] == "ended"
    assert story["decisions"][-1]["at_ms"] >= story["completed_ms"]
