"""Notes on jobs and runs with speeds of different origins."""

import random

import pytest

import experiments
from experiments import Arrivals, Options
from scheduling.model.measured_speed import MeasuredSpeed, trained_at
from scheduling.model.speed_origin import origin_of
from scheduling.model.values import Job
from scheduling.workloads import PROFILES, generate
from twin.analysis.speed_origins import note_of_jobs, note_of_runs, origins_of
from twin.files.job_table import JobTable
from twin.files.stored_jobs import StoredJobs

MEASURED = MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 0.9, 0.01, 0.02)
UNKNOWN = Job(id="a", arrival_ms=0, model="unknown")
MIXED = (
    "The speeds of the jobs are derived from different models: "
    "chunks of OASiS and A_online (3 jobs) and samples of PD-ORS (1 job)."
)


def jobs_of(profile: str, count: int) -> list[Job]:
    return generate(profile, num_jobs=count, num_servers=4, seed=0)[1]


def test_columns_and_objects_have_the_same_origins():
    every = [job for profile in PROFILES for job in jobs_of(profile, 6)]
    every += [trained_at(job, MEASURED) for job in every[::4]] + [UNKNOWN]
    for seed in range(50):
        chosen = random.Random(seed).choices(every, k=12)
        counted: dict[str, int] = {}
        for job in chosen:
            if origin := origin_of(job):
                counted[origin] = counted.get(origin, 0) + 1
        assert origins_of(chosen) == origins_of(StoredJobs(JobTable.of(chosen))) == counted
        assert list(origins_of(chosen).values()) == sorted(counted.values(), reverse=True)


def test_a_note_names_the_runs_of_each_origin():
    chunks, samples, none = jobs_of("oasis", 3), jobs_of("pd-ors", 2), [UNKNOWN]
    assert note_of_runs({4: chunks, 7: samples, 8: chunks, 9: none}) == (
        "The speeds of the jobs are derived from different models: "
        "chunks of OASiS and A_online in runs 4 and 8; samples of PD-ORS in run 7."
    )
    assert note_of_runs({4: chunks, 8: jobs_of("a-online", 2), 9: none}) is None
    assert note_of_runs({1: none}) is None


def test_a_note_counts_the_jobs_of_a_run_with_several_origins():
    mixed = [*jobs_of("oasis", 3), *jobs_of("pd-ors", 1)]
    assert note_of_jobs(mixed) == MIXED
    assert note_of_runs({1: mixed, 2: mixed}) == MIXED.replace("(1 job).", "(1 job) in runs 1 and 2.")
    assert note_of_jobs(jobs_of("oasis", 3)) is None
    assert note_of_jobs([]) is None


@pytest.mark.parametrize("name", experiments.names())
def test_the_jobs_of_an_experiment_have_one_origin(name):
    """Tables and charts of experiments compare all parts, so these need no note."""
    minutes = [60_000.0 * i for i in range(600)]
    options = Options(arrivals=Arrivals("minutes", minutes, [i % 4 for i in range(len(minutes))]))
    parts = next(experiments.experiment(name).run(options)).values()
    makers = [args[0] for part in parts if (args := getattr(part, "args", ())) and callable(args[0])]
    origins = {origin for make in {id(make): make for make in makers}.values() for origin in origins_of(make(0)[1])}
    assert len(origins) == (1 if makers else 0)
    assert makers or name in WITHOUT_MAKERS


WITHOUT_MAKERS = (  # they measure single jobs and groups of Harmony, or bounds of PD-ORS
    "harmony_fig02_single_jobs", "harmony_fig03_machines", "harmony_fig04_colocated", "harmony_sec5g_spilling",
    "pd_ors_fig05_feasibility",
)  # fmt: skip
