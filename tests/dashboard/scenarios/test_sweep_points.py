"""Points of sweeps over the API: the note on jobs with speeds of different origins, and their scenarios."""

from dataclasses import replace

import pytest

from scheduling.workloads import generate
from tests.dashboard.builders import post
from twin.models import Run, Scenario
from twin.scenarios import store


@pytest.mark.parametrize("mixed", [False, True])
def test_jobs_with_speeds_of_different_origins_are_noted(operator, mixed):
    cluster, jobs = generate("oasis", num_jobs=3, num_servers=4, seed=1)
    if mixed:
        jobs += [replace(job, id=f"other-{job.id}") for job in generate("pd-ors", num_jobs=1, num_servers=4, seed=1)[1]]
    spec, trace = store.store_generated("jobs", cluster, jobs, 1)
    scenario = Scenario.objects.create(name="jobs", cluster=spec, trace=trace, scheduler="fifo")
    axes = [{"parameter": "backfill", "values": ["true", "false"]}]
    sweep = post(operator, "/api/sweeps/", {"scenario": scenario.pk, "axes": axes}).json()
    assert operator.get(f"/api/sweeps/{sweep['id']}/points/").json()["speeds"] == (
        "The speeds of the jobs are derived from different models: chunks of OASiS and A_online (3 jobs) and samples "
        "of PD-ORS (1 job)."
        if mixed else None
    )  # fmt: skip


def test_the_scenario_of_a_point_is_read_and_its_page_is_that_of_its_run(operator):
    spec, trace = store.store_generated("jobs", *generate("oasis", num_jobs=3, num_servers=4, seed=1), 1)
    scenario = Scenario.objects.create(name="jobs", cluster=spec, trace=trace, scheduler="fifo")
    axes = [{"parameter": "backfill", "values": ["true", "false"]}]
    sweep = post(operator, "/api/sweeps/", {"scenario": scenario.pk, "axes": axes}).json()
    run = Run.objects.filter(points__sweep=sweep["id"]).first()
    address = f"/api/scenarios/{run.scenario_id}/"
    assert operator.get(address).json()["id"] == run.scenario_id
    assert operator.get(f"/scenarios/{run.scenario_id}/")["Location"] == f"/runs/{run.pk}/"
    assert run.scenario_id not in [row["id"] for row in operator.get("/api/scenarios/?size=100").json()["results"]]
    assert post(operator, f"{address}race/", {}).status_code == operator.delete(address).status_code == 404
