"""Counterfactuals by API: sentences with the numbers, recomputed from the log."""

from tests.twin.runtime.conftest import work
from twin import runner


def test_a_rejected_and_an_admitted_job_say_what_would_have_flipped_them(viewer, finished_run):
    rows = viewer.get(f"/api/runs/{finished_run.pk}/jobs/").json()["rows"]
    for code in ("payoff_not_positive", "payoff_positive"):
        job = next((row for row in rows if row["code"] == code), None)
        if job is None:
            continue
        found = viewer.get(f"/api/runs/{finished_run.pk}/jobs/{job['index']}/counterfactuals/").json()
        assert found["admitted"] == (code == "payoff_positive")
        assert {row["what"] for row in found["rows"]} >= {"priority", "workers", "arrival_ms"}
        priority = next(row for row in found["rows"] if row["what"] == "priority")
        assert priority["sentence"].startswith("It would still" if found["admitted"] else ("It would have", "No priority"))
        assert f"{priority['actual']:.4g}" in priority["sentence"]


def test_other_schedulers_and_jobs_say_why_not(viewer, make_run, finished_run):
    assert viewer.get(f"/api/runs/{finished_run.pk}/jobs/999/counterfactuals/").status_code == 404
    run = make_run(scheduler="fifo")
    runner.enqueue(run.pk)
    work()
    answer = viewer.get(f"/api/runs/{run.pk}/jobs/0/counterfactuals/")
    assert (answer.status_code, answer.json()["detail"][:39]) == (400, "FIFO does not decide by payoff, so noth")
