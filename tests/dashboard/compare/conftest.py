"""Runs to compare."""

import pytest

from dashboard.readmodels.comparison import cached
from tests.twin.runtime.queues import work
from twin.models import Run, Scenario
from twin.runs import runner


@pytest.fixture(autouse=True)
def nothing_kept():
    cached.forget()  # row ids are used again


@pytest.fixture
def pair(make_scenario, layer) -> tuple[Run, Run]:
    """FIFO and OASiS on the same trace, to the end."""
    base = make_scenario(scheduler="fifo", jobs=20)
    other = Scenario.objects.create(
        name="oasis", cluster=base.cluster, trace=base.trace, scheduler="oasis", seed=base.seed
    )
    runs = [Run.objects.create(scenario=scenario) for scenario in (base, other)]
    for run in runs:
        runner.enqueue(run.pk)
    work()
    for run in runs:
        run.refresh_from_db()
        assert run.status == Run.FINISHED
    return runs[0], runs[1]
