"""Counterfactuals by API: sentences with the numbers, recomputed from the log."""

from tests.twin.runtime.queues import work
from twin.runs import runner


def test_a_rejected_and_an_admitted_job_say_what_would_have_reversed_them(viewer, finished_run):
    rows = viewer.get(f"/api/runs/{finished_run.pk}/jobs/").json()["rows"]
    for code in ("payoff_not_positive", "payoff_positive"):
        job = next((row for row in rows if row["code"] == code), None)
        if job is None:
            continue
        found = viewer.get(f"/api/runs/{finished_run.pk}/jobs/{job['index']}/counterfactuals/?seconds=30").json()
        assert found["admitted"] == (code == "payoff_positive")
        assert {row["what"] for row in found["rows"]} >= {"priority", "workers", "arrival_ms"}
        priority = next(row for row in found["rows"] if row["what"] == "priority")
        assert priority["sentence"].startswith(
            "Admitted with a priority as low as"
            if found["admitted"]
            else ("Admitted with a priority of at least", "Not admitted")
        )
        assert f"{priority['actual']:.4g}" in priority["sentence"]


def test_other_schedulers_and_jobs_say_why_not(viewer, make_run, finished_run):
    assert viewer.get(f"/api/runs/{finished_run.pk}/jobs/999/counterfactuals/").status_code == 404
    run = make_run(scheduler="fifo")
    runner.enqueue(run.pk)
    work()
    answer = viewer.get(f"/api/runs/{run.pk}/jobs/0/counterfactuals/")
    assert (answer.status_code, answer.json()["detail"][:39]) == (400, "FIFO does not decide by payoff, so coun")


def test_what_there_is_no_time_for_says_so(viewer, finished_run):
    row = next(
        r for r in viewer.get(f"/api/runs/{finished_run.pk}/jobs/").json()["rows"] if r["code"].startswith("payoff")
    )
    url = f"/api/runs/{finished_run.pk}/jobs/{row['index']}/counterfactuals/"
    found = viewer.get(f"{url}?seconds=1e-9").json()
    assert {r["what"] for r in found["rows"]} >= {"priority", "workers", "arrival_ms"}
    assert not any(r["searched"] for r in found["rows"])
    assert all(
        r["value"] is None and "Search not completed within the time limit" in r["sentence"] for r in found["rows"]
    )
    assert all(r["searched"] for r in viewer.get(f"{url}?seconds=30").json()["rows"])
    for wrong in ("0", "31", "-1", "nan", "soon"):
        answer = viewer.get(f"{url}?seconds={wrong}")
        assert (answer.status_code, answer.json()["detail"][:52]) == (
            400,
            "seconds must be a number above 0 and up to 30, got '",
        ), wrong
