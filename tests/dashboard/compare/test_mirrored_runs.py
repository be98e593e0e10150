"""Comparison of a mirrored run with forks of it and with another mirrored run."""

from __future__ import annotations

from datetime import datetime

import pytest

from dashboard.readmodels.comparison import cached
from dashboard.readmodels.comparison.time_origin import NOTE
from tests.dashboard.builders import downloaded
from tests.twin.builders import played_out
from tests.twin.mirror.whatif.builders_forty import MINUTE, at, mirrored_run
from twin.analysis.comparison.compared import STEP_MS
from twin.infra.columns import unpack
from twin.models import Connection
from twin.moments import moment_utc
from twin.runs import commands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pair():
    """(a mirrored run, a fork of it at minute 11 with what followed, to its end)"""
    cached.forget()
    run = mirrored_run()
    options = {"arrivals": True}
    _, fork = commands.fork_and_start(run.pk, at(run, 660), "", [], True, options=options)
    return run, played_out(fork)


def test_a_mirrored_run_and_its_fork_are_compared_job_by_job(operator, pair):
    run, fork = pair
    answer = operator.get(f"/api/compare/?runs={run.pk},{fork.pk}").json()
    notes = " ".join(answer["notes"])
    assert "different execution models: a real cluster in run" in notes
    assert f"Run {fork.pk} is a cut of run {run.pk} at {moment_utc(run.epoch_ms + at(run, 660))}: it begins" in notes
    slot = moment_utc(run.epoch_ms + (at(run, 660) - 1) // MINUTE * MINUTE)
    assert f"that of running jobs from the start of the slot before it ({slot}); in run {run.pk} both are" in notes
    assert f"covers the time up to {moment_utc(run.epoch_ms + run.sim_ms)}, which" in notes
    assert datetime.fromisoformat(answer["began_at"]) == run.began_at
    assert NOTE not in notes
    assert "different traces" not in notes
    assert "different clusters" not in notes
    assert [row["from_ms"] for row in answer["runs"]] == [0, at(run, 660)]
    assert answer["shared"] == {"jobs": 4, "of": [4, 4], "same_trace": True}
    rows = {row["key"]: [value["value"] for value in row["values"]] for row in answer["metrics"]}
    unknown = ("total_utility", "certificate_ratio", "admitted", "suspensions", "preemptions", "decision_p95_ms")
    for key in (*unknown, "lanes.mean_slowdown"):
        assert rows[key][0] is None, key
    assert rows["jobs"] == [4, 4]
    assert rows["completed"][0] == 1
    assert rows["mean_wait_ms"][0] is not None
    assert not any(value["ranked"] for row in answer["metrics"] if row["direction"] for value in row["values"][1:])
    (divergence,) = answer["divergences"]
    # job 3 waits in the cluster until the end; FIFO with backfilling starts it at once
    assert divergence["job"] == "3"
    assert at(run, 660) <= divergence["at_ms"] <= at(run, 660) + 2 * MINUTE
    assert divergence["other"]["immediate"] is True
    assert (divergence["base"]["immediate"], divergence["base"]["standing"]["state"]) == (False, "queued")


def test_a_followed_cluster_is_compared_up_to_its_newest_poll_also_without_events(operator, pair):
    run, fork = pair
    idle_ms = run.sim_ms // STEP_MS * STEP_MS + 5 * MINUTE
    health = {"seen_ms": run.epoch_ms + idle_ms + STEP_MS - 1}
    Connection.objects.filter(run=run).update(health=health)
    answer = operator.get(f"/api/compare/?runs={run.pk},{fork.pk}").json()
    assert answer["at_ms"] == idle_ms
    Connection.objects.filter(run=run).update(health={"seen_ms": run.epoch_ms + run.sim_ms + 1})
    assert operator.get(f"/api/compare/?runs={run.pk},{fork.pk}").json()["at_ms"] == run.sim_ms


def test_pages_files_and_both_orders(operator, pair):
    run, fork = pair
    for runs in (f"{run.pk},{fork.pk}", f"{fork.pk},{run.pk}"):
        found = operator.get(f"/api/compare/jobs/?runs={runs}").json()
        assert found["span_ms"][1] <= fork.sim_ms, "a job that runs has no end yet"
        sides = {row["id"]: (row["base"], row["other"])[runs.startswith(str(fork.pk))] for row in found["rows"]}
        assert (sides["2"]["state"], sides["2"]["finish_ms"]) == ("running", None)
        assert {row["id"] for row in found["rows"]} >= {"3"}
        kinds = operator.get(f"/api/compare/kinds/?runs={runs}")
        meta, columns = unpack(kinds.content)
        assert meta["bits"]["shifted"]
        assert columns[f"shared_{run.pk}"].tolist() == [0, 1, 2, 3]
        for path in ("metrics.csv", "differences.csv"):
            answer = operator.get(f"/api/compare/{path}?runs={runs}")
            assert answer.status_code == 200
    lines = downloaded(operator.get(f"/api/compare/differences.csv?runs={run.pk},{fork.pk}")).decode().splitlines()
    assert any(line.startswith("3,") for line in lines)


def test_forks_of_one_moment_are_ranked_and_those_of_two_are_not(operator, pair):
    run, fork = pair
    moment_ms, options = at(run, 660), {"arrivals": True, "scheduler": "drf"}
    same = played_out(commands.fork_and_start(run.pk, moment_ms, "", [], True, options=options)[1])
    later = played_out(commands.fork_and_start(run.pk, moment_ms + MINUTE, "", [], True, options=options)[1])
    answer = operator.get(f"/api/compare/?runs={fork.pk},{same.pk},{later.pk}").json()
    mean = next(row for row in answer["metrics"] if row["key"] == "mean_jct_ms")
    assert [value["ranked"] for value in mean["values"]] == [True, True, False]
    assert answer["divergences"][0]["at_ms"] is not None


def test_two_clusters_are_compared_by_their_metrics_alone(operator):
    cached.forget()
    one, other = mirrored_run("one"), mirrored_run("other")
    answer = operator.get(f"/api/compare/?runs={one.pk},{other.pk}").json()
    assert "different traces" in " ".join(answer["notes"])
    assert datetime.fromisoformat(answer["began_at"]) == one.began_at, "both logs begin at one moment"
    assert answer["divergences"][0]["at_ms"] is None
    assert "different jobs" in answer["divergences"][0]["why"]
    mean = next(row for row in answer["metrics"] if row["key"] == "mean_wait_ms")
    assert [value["value"] for value in mean["values"]] == [mean["values"][0]["value"]] * 2
    assert [value["ranked"] for value in mean["values"]] == [True, False]


def test_a_mirrored_run_and_one_without_any_of_its_jobs(operator, finished_run):
    cached.forget()
    run = mirrored_run()
    for runs in (f"{run.pk},{finished_run.pk}", f"{finished_run.pk},{run.pk}"):
        answer = operator.get(f"/api/compare/?runs={runs}")
        assert answer.status_code == 200, answer.content
        assert answer.json()["shared"]["jobs"] == 0
        assert answer.json()["began_at"] is None
        assert NOTE in answer.json()["notes"]
        assert not any("UTC" in note for note in answer.json()["notes"]), "one kind of times on the page"
        assert operator.get(f"/api/compare/jobs/?runs={runs}").json()["rows"] == []
