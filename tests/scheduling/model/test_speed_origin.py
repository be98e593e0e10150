"""Origins of the speeds of jobs."""

from dataclasses import replace

import pytest

from scheduling.model.measured_speed import MeasuredSpeed, trained_at
from scheduling.model.speed import TIMES
from scheduling.model.speed_origin import RUN_TIMES, TITLES, origin_of
from scheduling.model.values import Job
from scheduling.workloads import PROFILES, generate

MEASURED = MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 0.9, 0.01, 0.02)
ORIGINS = {"oasis": "chunks", "a-online": "chunks", "pd-ors": "samples", "harmony": "machines"}


def a_job(profile: str) -> Job:
    return generate(profile, num_jobs=1, num_servers=4, seed=0)[1][0]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_origin_of_a_generated_job_is_the_model_of_its_paper(profile):
    job = a_job(profile)
    assert origin_of(job) == TITLES[ORIGINS[profile]]
    assert origin_of(replace(job, provenance={})) == TITLES["chunks"], "the first that is stated"


@pytest.mark.parametrize("profile", PROFILES)
def test_measurements_differ_by_what_was_measured(profile):
    job = a_job(profile)
    assert origin_of(trained_at(job, MEASURED)) == "a measurement (gradient 4 MB, fixed cost 7.6 ms)"
    other = replace(MEASURED, fixed_ms=3.0, gradient_mb=1.0)
    assert origin_of(trained_at(job, other)) == "a measurement (gradient 1 MB, fixed cost 4.4 ms)"


@pytest.mark.parametrize("provenance", ["derived", "actual", "limit", "assumed", "predicted"])
def test_jobs_of_a_trace_have_the_speed_that_fits_their_run_time(provenance):
    job = replace(a_job("oasis"), provenance=dict.fromkeys(TIMES.values(), provenance))
    assert origin_of(job) == RUN_TIMES


def test_an_unknown_speed_has_no_origin():
    assert origin_of(Job(id="a", arrival_ms=0, model="unknown")) is None
