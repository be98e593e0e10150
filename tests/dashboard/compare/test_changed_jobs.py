"""Runs whose jobs were changed by edits: what is ranked and what is said."""

import numpy as np
import pytest

from tests.dashboard.compare.builders import address
from tests.twin.runtime.queues import work
from twin.analysis import changed_jobs
from twin.analysis.changed_jobs import NOT_OF_THE_JOB
from twin.files.stored_jobs import StoredJobs
from twin.models import Run
from twin.runs import commands, runner
from twin.scenarios import store
from twin.scenarios.edits import verbs

UTILITIES = {"total_utility"}
UNCHANGED = {"common_jct_ms"}


@pytest.fixture
def answer_of(viewer, make_scenario, layer):
    """answer_of(edit) -> GET of the comparison of a run with one that has this edit as well."""

    def play(*edits):
        scenario = make_scenario(scheduler="drf", jobs=20)
        runs = [Run.objects.create(scenario=scenario, edits=list(given)) for given in ((), edits)]
        for run in runs:
            runner.enqueue(run.pk)
        work()
        return viewer.get(address(*runs)).json(), runs

    return play


def ranked(answer):
    return {row["key"]: row["values"][1]["ranked"] for row in answer["metrics"] if row["direction"]}


def test_changed_work_is_not_ranked(answer_of):
    """A fifth of the work: the run is faster, not better. What edits changed is said in one banner."""
    answer, (first, other) = answer_of({"verb": "change_jobs", "at_ms": 0, "field": "num_chunks", "factor": 0.2})
    rows = ranked(answer)
    assert not any(can for key, can in rows.items() if key not in UNCHANGED | {"certificate_ratio"})
    cells = {row["key"]: row["values"][1] for row in answer["metrics"]}
    assert (cells["mean_jct_ms"]["verdict"], cells["mean_jct_ms"]["delta"]) == (None, None)
    assert cells["common_jct_ms"]["value"] is None, "no job is unchanged"
    assert answer["notes"] == [
        f"The jobs of run {other.pk} are not those of run {first.pk} because of edits (run {other.pk}: “Multiply the "
        "chunks of jobs * by 0.2”): 20 with other work, arrival or demands. So the metrics are not ranked, except for "
        "the mean JCT of common jobs, which covers the unchanged jobs."
    ]
    assert not any(row["completed"][1]["ranked"] for row in answer["groups"]["model"])
    assert answer["runs"][0]["edits"] == []
    assert answer["runs"][1]["edits"] == ["Multiply the chunks of jobs * by 0.2"]


def test_changed_utilities_are_not_ranked(answer_of):
    """The same work at another worth: times are ranked, utilities are not."""
    answer, _ = answer_of({"verb": "change_utility", "at_ms": 0, "priority": 3.0})
    rows = ranked(answer)
    assert {key for key, can in rows.items() if not can and key != "certificate_ratio"} == UTILITIES
    assert "20 with another utility. So the total utility is not ranked." in answer["notes"][0]
    (group, *_) = answer["groups"]["model"]
    assert (group["completed"][1]["ranked"], group["total_utility"][1]["ranked"]) == (True, False)


def test_delayed_jobs_are_not_ranked(answer_of):
    answer, _ = answer_of({"verb": "delay_jobs", "at_ms": 0, "by_ms": 30 * 86_400_000})
    assert not ranked(answer)["mean_jct_ms"]
    assert "Delay jobs * by" in answer["notes"][0]


def test_unchanged_jobs_are_ranked_beside_added_ones(answer_of, make_scenario):
    """Added jobs: the metrics of all jobs are of different jobs, those of the common ones are not."""
    like = store.jobs_of(make_scenario(scheduler="drf", jobs=20).trace_id)[0].id
    answer, (_, other) = answer_of({"verb": "add_jobs", "at_ms": 0, "like": like, "count": 3})
    rows = ranked(answer)
    assert (rows["mean_jct_ms"], rows["common_jct_ms"]) == (False, True)
    assert all(row["mean_jct_ms"][1]["ranked"] for row in answer["groups"]["model"])
    assert f"3 only in run {other.pk}. So the metrics of all jobs are not ranked." in answer["notes"][0]


@pytest.mark.parametrize("edit", [
    {"verb": "resize_servers", "at_ms": 0, "servers": "*", "resource": "gpu", "amount": 64.0},
    {"verb": "change_scheduler", "at_ms": 3_600_000, "scheduler": "fifo"},
])  # fmt: skip
def test_edits_of_servers_and_schedulers_stay_ranked(answer_of, edit):
    """They are the question of a what-if."""
    answer, _ = answer_of(edit)
    assert all(ranked(answer).values())
    assert answer["notes"] == []
    assert len(answer["runs"][1]["edits"]) == 1


def test_a_fork_counts_its_edits(viewer, make_scenario, layer):
    scenario = make_scenario(scheduler="drf", jobs=20)
    run = commands.start_run(scenario)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    at_ms = store.jobs_of(scenario.trace_id)[10].arrival_ms
    edit = {"verb": "change_jobs", "at_ms": at_ms, "field": "num_chunks", "factor": 0.2}
    _, fork = commands.fork_and_start(run.pk, at_ms, "", [edit], True)
    runner.enqueue(fork.pk)
    work()
    answer = viewer.get(address(run, fork)).json()
    assert not ranked(answer)["mean_jct_ms"]
    assert len(answer["runs"][1]["edits"]) == 1


def test_changes_are_those_of_a_plain_loop(make_scenario):
    """Jobs matched by id, field by field; stored columns and lists of jobs alike."""
    scenario = make_scenario(scheduler="drf", jobs=20)
    jobs = store.jobs_of(scenario.trace_id)
    edits = [
        {"verb": "drop_jobs", "at_ms": 0, "jobs": jobs[3].id},
        {"verb": "delay_jobs", "at_ms": 0, "jobs": jobs[5].id, "by_ms": 7 * 86_400_000},
        {"verb": "change_utility", "at_ms": 0, "jobs": jobs[6].id, "priority": 2.0},
        {"verb": "add_jobs", "at_ms": 0, "like": jobs[0].id},
    ]
    other = store.stages_of(scenario, edits)[-1].state.jobs
    assert isinstance(jobs, StoredJobs)
    found = changed_jobs.changes(jobs, other, (1, 1))
    assert (found.only_first, found.only_other) == (1, 1)
    assert np.flatnonzero(found.work).tolist() == [5]
    assert np.flatnonzero(found.worth).tolist() == [6]
    assert not changed_jobs.changes(jobs, list(jobs), (1, 1)).any


def test_every_edit_of_jobs_is_marked(make_scenario):
    """An edit that changes a field of a job is one of jobs: otherwise the banner would not name it."""
    marked = {name for name, cls in verbs().items() if cls.of_jobs}
    assert marked == {"add_jobs", "change_jobs", "change_utility", "delay_jobs", "drop_jobs", "scale_arrivals"}
    assert {"upload_ms", "cloud_upload_ms"} <= set(NOT_OF_THE_JOB), "edits of links change these"
