"""Scenarios for the tests of forms."""

from dataclasses import replace

from scheduling.workloads import generate
from twin.models import Scenario
from twin.scenarios.store import store_generated


def without_samples(scheduler):
    """A scenario whose jobs state another global batch than their speed has, so that samples cannot be derived."""
    cluster, jobs = generate("oasis", num_jobs=8, num_servers=10, seed=3)
    jobs = [replace(job, num_samples=None, sample_ms=None) for job in jobs]
    spec, trace = store_generated("oasis", cluster, jobs, 3)
    return Scenario.objects.create(name="base", cluster=spec, trace=trace, scheduler=scheduler, seed=3)
