"""Logs of runs that are compared, and what every test of analysis starts with."""

import pytest

from tests.twin.analysis.builders_compared import BASE, JOBS, OTHER
from tests.twin.analysis.builders_comparing import CLUSTER
from twin.eventlog import event_log, state_cache
from twin.models import Run, Scenario
from twin.scenarios import store as scenarios


@pytest.fixture(autouse=True)
def nothing_kept(fresh):
    """Nothing that an earlier test enqueued or kept."""


@pytest.fixture
def stored(db):
    """stored(events, jobs) -> a run whose log holds them."""
    state_cache.forget()  # row ids are used again

    def store(events, jobs=JOBS, trace=None, status=Run.FINISHED):
        spec, own = scenarios.store_generated("hand", CLUSTER, jobs, 1)
        scenario = Scenario.objects.create(name="hand", cluster=spec, trace=trace or own, scheduler="fifo")
        run = Run.objects.create(scenario=scenario, status=status)
        event_log.append(run.pk, 0, events[:7])
        event_log.append(run.pk, 0, events[7:])
        run.refresh_from_db()
        return run

    return store


@pytest.fixture
def pair(stored):
    first = stored(BASE)
    return first, stored(OTHER, trace=first.scenario.trace)
