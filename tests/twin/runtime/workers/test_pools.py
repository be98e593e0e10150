"""A run whose computations take long is handed to a worker of its own, and comes back when they are short again."""

import re

import pytest
from django.conf import settings

from tests.twin.runtime.builders import undisturbed
from tests.twin.runtime.queues import messages
from twin.eventlog import event_log
from twin.management.commands import up
from twin.models import Run
from twin.runs import engine, pools, runner


@pytest.fixture
def quick(monkeypatch):
    """This process is one of the quick worker."""
    monkeypatch.setattr(pools, "CHECK_S", 0.001)
    pools.set_yields(True)
    yield
    pools.set_yields(False)


@pytest.fixture
def long_decisions(monkeypatch):
    """Every computation goes on until the watch has seen it."""
    batch = engine.Engine.batch

    def slow(self, limit_ms):
        while not Run.objects.filter(slow=True).exists():
            sum(range(1000))
        return batch(self, limit_ms)

    monkeypatch.setattr(pools, "MAX_QUICK_S", 0.05)
    monkeypatch.setattr(engine.Engine, "batch", slow)


@pytest.mark.django_db(transaction=True)
def test_a_long_computation_goes_to_the_other_worker_and_nothing_is_written_twice(
    layer, quick, long_decisions, make_run
):
    run = make_run()
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.slow, run.last_seq, run.lease_owner) == (True, 0, "")
    assert messages("long") == [("twin.tasks.advance_run", run.pk)]
    runner.advance(run.pk)
    run.refresh_from_db()
    assert run.last_seq == 0, "a message that was sent before"
    runner.enqueue(run.pk)
    assert (messages("long"), messages("runs")) == ([("twin.tasks.advance_run", run.pk)], [])
    pools.set_yields(False)
    while Run.objects.get(pk=run.pk).status in Run.ACTIVE:
        runner.advance(run.pk)
    assert list(event_log.canonical(run.pk)) == undisturbed(run)


def test_a_run_comes_back_when_its_computations_are_short(layer, make_run, monkeypatch):
    run = make_run(jobs=200)
    Run.objects.update(slow=True)
    monkeypatch.setattr(runner, "MAX_SLICE_S", 0.0)
    monkeypatch.setattr(engine, "BATCH_EVENTS", 1)
    monkeypatch.setattr(pools, "MAX_QUICK_S", 1e-6)
    runner.advance(run.pk)
    assert (Run.objects.get(pk=run.pk).slow, messages("long")) == (True, [("twin.tasks.advance_run", run.pk)])
    monkeypatch.setattr(pools, "MAX_QUICK_S", 1e6)
    runner.advance(run.pk)
    assert (Run.objects.get(pk=run.pk).slow, messages("runs")) == (False, [("twin.tasks.advance_run", run.pk)])


def test_no_worker_for_runs_takes_other_tasks(monkeypatch):
    """Otherwise certificates or imports could keep all of them busy."""
    started = {}
    monkeypatch.setattr(up.Children, "add", lambda self, child: started.__setitem__(child.name, child.command))
    up.Command()._start_others(up.Children(), {}, {"workers": 2, "demo": False})
    queues = {name: command[command.index("-Q") + 1] for name, command in started.items() if "-Q" in command}
    assert queues == {"worker": "runs", "long": "long", "background": "io,certificates"}
    served = re.findall(r"^(\w+)\) worker (\S+) ", (settings.BASE_DIR / "bin/serve").read_text(), re.M)
    assert dict(served) == {"runs": "runs", "long": "long", "background": "io,certificates"}
