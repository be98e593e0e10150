"""The demo restarts whenever it has finished; of its ended runs, those that somebody reads are kept."""

import pytest

from twin.models import Run, Scenario
from twin.runs import readers
from twin.studies import demo

pytestmark = pytest.mark.django_db


def ended(run: Run) -> Run:
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    return run


def rounds(count: int) -> list[int]:
    """The ids of as many runs of the demo, one after the other, all ended."""
    return [ended(demo.ensure()).pk for _ in range(count)]


def left() -> list[int]:
    return sorted(Run.objects.values_list("pk", flat=True))


def test_it_is_one_live_run_that_restarts_when_it_has_finished(layer):
    first = demo.ensure()
    assert demo.ensure() == first
    assert (first.mode, first.scenario.scheduler) == (Run.LIVE, "oasis")
    assert first.scenario.trace.job_count > 0
    Run.objects.filter(pk=first.pk).update(status=Run.CANCELLED)
    assert demo.ensure() == first  # an operator's wish
    ended(first)
    runs = [first.pk, *rounds(4)]
    newest = demo.ensure()
    assert left() == [*runs[-demo.MAX_KEPT :], newest.pk]


def test_a_run_that_somebody_reads_stays_until_nobody_does(layer):
    read, other = rounds(2)
    readers.mark(read)
    rounds(demo.MAX_KEPT + 1)
    assert read in left()
    assert other not in left()
    readers.forget(read)
    rounds(1)
    assert read not in left()


def test_a_mark_goes_by_itself(layer):
    readers.mark(7)
    from twin.infra import pubsub

    assert 0 < pubsub.client().ttl(readers.key(7)) <= readers.KEPT_S


def test_a_run_that_was_forked_stays_with_its_forks(layer):
    """What is tried from it is compared with it."""
    (parent,) = rounds(1)
    of = Run.objects.get(pk=parent).scenario
    fork = Scenario.objects.create(
        name="fork", cluster=of.cluster, trace=of.trace, scheduler="oasis", parent_id=parent, fork_ms=1
    )
    rounds(demo.MAX_KEPT + 1)
    assert parent in left()
    fork.delete()
    rounds(1)
    assert parent not in left()


@pytest.mark.parametrize("url", ["", "unix:///nowhere/broker.sock"])
def test_without_a_bus_nothing_is_deleted(settings, url):
    """Nobody knows then who reads what."""
    settings.LAYER_URL = url
    runs = rounds(demo.MAX_KEPT + 2)
    assert left() == runs
