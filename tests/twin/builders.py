"""Stored scenarios that are played without a worker, and headless commands: shared by the tests of the twin."""

from __future__ import annotations

from io import StringIO

from django.core.management import call_command
from django.core.management.base import CommandError
from hypothesis import strategies as st

from scheduling.model.provenance import PROVENANCES
from scheduling.model.values import Job, Utility
from scheduling.workloads import generate
from twin.files.outputs import event_line
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store
from twin.scenarios.store import store_generated

H = 3_600_000


def scenario_of(profile, scheduler, jobs=40, servers=10, seed=3, **parameters):

    spec, trace = store_generated(f"{profile}", *generate(profile, num_jobs=jobs, num_servers=servers, seed=seed), seed)
    return Scenario.objects.create(
        name="base", cluster=spec, trace=trace, scheduler=scheduler, parameters=parameters, seed=seed
    )


def played_out(run):
    """The run after a worker has done all of it."""
    for _ in range(200):
        runner.advance(run.pk)
        run.refresh_from_db()
        if run.status not in Run.ACTIVE:
            break
    assert run.status == Run.FINISHED, run.message
    return run


def from_scratch(run):
    return [event_line(event) for event in store.simulation(run).events()]


def run(*arguments):
    """(exit code, lines on standard output, lines on standard error)"""
    out, err, code = StringIO(), StringIO(), 0
    try:
        call_command(*map(str, arguments), stdout=out, stderr=err)
    except SystemExit as ended:
        code = ended.code
    except CommandError as error:  # of the options; the command line prints the same and ends with 2
        return 2, [], [str(error)]
    return code, out.getvalue().splitlines(), err.getvalue().splitlines()


amounts = st.integers(0, 2**50)
whole = st.integers(1, 2**53)
real = st.floats(1e-6, 1e12)


@st.composite
def jobs(draw):
    found = []
    for number in range(draw(st.integers(0, 6))):
        parts = {
            name: draw(strategy)
            for name, strategy in {
                "epochs": whole, "num_chunks": whole, "minibatch_ms": real, "gradient_mb": real, "iterations": whole,
                "cloud_upload_ms": st.integers(0, 10**9), "worker": st.tuples(*[amounts] * 5),
                "ps": st.tuples(*[amounts] * 5), "worker_type": st.sampled_from(["t4", "v100"]),
                "upload_ms": st.lists(st.integers(0, 10**9), min_size=1, max_size=4).map(tuple),
                "utility": st.builds(Utility, real, st.floats(0, 10), st.floats(0, 100)),
                "provenance": st.dictionaries(st.sampled_from(["epochs", "ps"]), st.sampled_from(PROVENANCES),
                                              min_size=1),
            }.items()
            if draw(st.booleans())
        }  # fmt: skip
        found.append(
            Job(f"j{number}", draw(st.integers(0, 2**53)), draw(st.sampled_from(["unknown", "vgg-16"])), **parts)
        )
    return found


def in_table(rows: list[Job]) -> list[Job]:
    """The jobs whose amounts fit in a table of jobs, by arrival."""
    fit = (job for job in rows if all(amount < 10**12 for part in (job.worker, job.ps) if part for amount in part))
    return sorted(fit, key=lambda job: job.arrival_ms)
