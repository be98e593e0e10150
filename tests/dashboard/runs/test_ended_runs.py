"""Runs that ended before their end: how they are counted, and the metrics of the part that they played."""

import pytest

from tests.twin.runtime.queues import work
from twin.models import Run
from twin.runs import runner
from twin.scenarios import store


def test_the_counts_by_status_add_up_to_all_runs(viewer, make_scenario):
    """Also where there are more runs than a page of the list holds; those of sweeps are listed on its own page."""
    scenario = make_scenario()
    for status, count in ((Run.CANCELLED, 40), (Run.FINISHED, 20), (Run.FAILED, 1), (Run.QUEUED, 2)):
        Run.objects.bulk_create(Run(scenario=scenario, status=status) for _ in range(count))
    found = viewer.get("/api/runs/", {"size": 50}).json()
    assert len(found["results"]) == 50
    assert found["by_status"] == {"queued": 2, "running": 0, "paused": 0, "finished": 20, "cancelled": 40, "failed": 1}
    assert sum(found["by_status"].values()) == found["count"]
    assert viewer.get("/api/runs/", {"q": "nothing like it"}).json()["by_status"]["cancelled"] == 0


def test_a_cancelled_run_has_the_metrics_of_the_part_that_it_played(viewer, make_scenario, layer):
    run = Run.objects.create(scenario=make_scenario(jobs=20))
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    whole, end_ms = run.metrics, run.sim_ms
    row = viewer.get(f"/api/runs/{run.pk}/").json()
    assert (row["metrics"], row["metrics_until_ms"]) == (whole, None)
    Run.objects.filter(pk=run.pk).update(status=Run.CANCELLED, metrics={})
    row = viewer.get(f"/api/runs/{run.pk}/").json()
    assert row["metrics_until_ms"] == end_ms
    assert {key: row["metrics"][key] for key in whole if key != "utilization"} == pytest.approx(
        {key: value for key, value in whole.items() if key != "utilization"}
    )
    assert row["metrics"]["utilization"] == pytest.approx(whole["utilization"])
    middle = end_ms // 3
    Run.objects.filter(pk=run.pk).update(sim_ms=middle)
    row = viewer.get(f"/api/runs/{run.pk}/").json()
    assert (row["metrics_until_ms"], row["metrics"]["jobs"]) == (
        middle, sum(job.arrival_ms <= middle for job in store.jobs_of(run.scenario.trace_id))
    )  # fmt: skip
    assert row["metrics"]["completed"] < whole["completed"]


def test_a_run_that_was_cancelled_before_it_began_has_none(viewer, make_scenario):
    run = Run.objects.create(scenario=make_scenario(), status=Run.CANCELLED)
    row = viewer.get(f"/api/runs/{run.pk}/").json()
    assert (row["metrics"], row["metrics_until_ms"]) == (run.metrics, None)
