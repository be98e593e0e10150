"""Points of sweeps over the API: the note on jobs with speeds of different origins."""

from dataclasses import replace

import pytest

from scheduling.workloads import generate
from tests.dashboard.builders import post
from twin.models import Scenario
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
