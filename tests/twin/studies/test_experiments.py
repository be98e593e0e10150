"""Experiments in the background: parts under leases, resumption without repeated work, and the command's own table."""

from __future__ import annotations

import os
import signal
from datetime import timedelta

import pytest
from django.utils import timezone

import experiments
from experiments import Figure, Options, Table
from scheduling.model.values import ModelError
from tests.twin.builders import scenario_of
from twin.infra.errors import Refused
from twin.models import AuditEntry, Reproduction, ReproductionPart
from twin.processes import bounded_process
from twin.runs import lease
from twin.studies.experiments import starting, tables, task

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "oasis_fig07_testbed_utility"
PARTS = [f"testbed: {name}" for name in ("OASiS", "FIFO", "DRF", "RRH", "Dorm")]


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    """Requests are recorded, and parts are computed in this process."""
    sent = []
    # a child would have another database in memory; test_bounded.py has the process itself
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: work() or "done")
    monkeypatch.setattr(task, "send_all", lambda name, keys, **how: sent.append((name, list(keys))))
    return sent


def titles(of: Reproduction, status: str) -> list[str]:
    return list(of.parts.filter(status=status).values_list("title", flat=True))


def computed(of: Reproduction) -> None:
    """Work on all parts, as a worker does."""
    for part in of.parts.filter(status=ReproductionPart.WAITING):
        task.work(part.pk)


def test_parts_give_the_table_of_the_command(no_broker):
    of = starting.start(NAME, seeds=1)
    assert titles(of, "waiting") == PARTS
    first = of.parts.first()
    assert no_broker == [("experiment_part", [first.pk])], "as many as may be computed at once"
    computed(of)
    of.refresh_from_db()
    assert of.status == Reproduction.FINISHED
    assert tables.read(of.table) == experiments.run(NAME, Options(seeds=1))
    assert all(part.seconds > 0 for part in of.parts.all())
    assert of.code == experiments.code_digest(NAME)


def test_the_stored_form_of_a_table_keeps_infinite_values_and_spreads():
    checks = (Figure("a", float("inf"), "x", 1.0, at_least=True),)
    table = Table(("jobs", "A"), ((10, float("inf")),), checks, ((None, (1.0, 2.0)),))
    assert tables.read(tables.stored(table)) == table
    nan = tables.read(tables.stored(Table(("jobs", "A"), ((10, float("nan")),), ())))
    assert nan.rows[0][1] != nan.rows[0][1]


def test_a_part_whose_worker_was_killed_is_computed_again_and_no_other(monkeypatch):
    of = starting.start(NAME, seeds=1)
    task.work(of.parts.first().pk)
    done = set(titles(of, "done"))
    assert done
    victim = of.parts.filter(status="waiting").first() or of.parts.last()
    ReproductionPart.objects.filter(pk=victim.pk).update(status="waiting", value="")
    Reproduction.objects.update(status=Reproduction.COMPUTING, table="")
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    dead = lease.new_owner().replace(f"/{os.getpid()}.", f"/{child}.")
    until = timezone.now() + timedelta(minutes=5)
    ReproductionPart.objects.filter(pk=victim.pk).update(owner=dead, lease_until=until)
    assert victim.pk in task.due(), "the lease of a dead process is over at once"
    made = []
    value = experiments.part_value
    monkeypatch.setattr(experiments, "part_value", lambda *given: made.append(given[2]) or value(*given))
    computed(of)
    of.refresh_from_db()
    assert of.status == Reproduction.FINISHED
    assert victim.title in made
    assert not (done - {victim.title}) & set(made), "finished parts are not computed again"


def test_a_living_worker_keeps_its_part_and_the_limit_of_parts_at_once():
    of = starting.start(NAME, seeds=1)
    first, second = of.parts.all()[:2]
    until = timezone.now() + timedelta(seconds=10)
    ReproductionPart.objects.filter(pk=first.pk).update(owner=lease.new_owner(), lease_until=until)
    assert task.due() == []
    task.work(second.pk)
    assert titles(of, "done") == []


def test_a_part_from_before_the_clock_was_set_back_is_computed():
    of = starting.start(NAME, seeds=1)
    first = of.parts.first()
    until = timezone.now() + timedelta(minutes=5)
    ReproductionPart.objects.filter(pk=first.pk).update(owner="elsewhere.example/1.1", lease_until=until)
    assert first.pk in task.due()
    first.refresh_from_db()
    assert task._claim(first, lease.new_owner())


def test_a_cancelled_experiment_is_resumed_with_its_finished_parts(no_broker, monkeypatch):
    of = starting.start(NAME, seeds=1)
    monkeypatch.setattr(task, "TURN_S", 0.0)
    task.work(of.parts.first().pk)
    assert titles(of, "done") == PARTS[:1]
    assert starting.cancel(NAME) == len(PARTS) - 1
    assert task.due() == []
    again = starting.start(NAME, seeds=1)
    assert again.pk == of.pk
    assert titles(again, "done") == PARTS[:1]
    assert starting.cancel(NAME) == len(PARTS) - 1
    assert starting.start(NAME, seeds=2).pk != of.pk, "another setting is another reproduction"
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == [
        "experiment.start", "experiment.cancel", "experiment.resume", "experiment.cancel", "experiment.start",
    ]  # fmt: skip


def test_a_cancel_ends_the_process_of_a_part():
    of = starting.start(NAME, seeds=1)
    part = of.parts.first()
    owner = lease.new_owner()
    assert task._claim(part, owner)
    assert task._renew(part.pk, owner)
    starting.cancel(NAME)
    assert not task._renew(part.pk, owner)


def test_a_part_that_takes_too_long_fails_its_experiment(settings, monkeypatch):
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: "late")
    settings.EXPERIMENT_LIMIT_S = 0.0
    of = starting.start(NAME, seeds=1)
    task.work(of.parts.first().pk)
    of.refresh_from_db()
    assert of.status == Reproduction.FAILED
    assert of.message == "the part “testbed: OASiS” failed: it took longer than 0 s (EXPERIMENT_LIMIT_S)"
    settings.EXPERIMENT_LIMIT_S = 60.0
    again = starting.start(NAME, seeds=1)
    assert (again.pk, again.message, titles(again, "failed")) == (of.pk, "", [])


def test_a_part_whose_process_is_killed_fails_its_experiment(monkeypatch):
    """A part that needs more memory than the machine has would be killed again and again."""
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: "killed")
    of = starting.start(NAME, seeds=1)
    part = of.parts.first()
    task.work(part.pk)
    of.refresh_from_db()
    assert titles(of, "failed") == PARTS[:1]
    assert (of.status, of.message) == (
        Reproduction.FAILED,
        "the part “testbed: OASiS” failed: its process was killed, for example because the machine had no memory left",
    )
    assert task.due() == []


def test_a_killed_worker_after_the_last_part_leaves_a_conclusion_that_is_due():
    of = starting.start(NAME, seeds=1)
    computed(of)
    Reproduction.objects.update(status=Reproduction.COMPUTING, table="")
    assert task.due() == [of.parts.last().pk]
    task.work(of.parts.last().pk)
    of.refresh_from_db()
    assert of.status == Reproduction.FINISHED


def test_requests_are_repeated_only_after_a_pause(no_broker):
    starting.start(NAME, seeds=1)
    requests = task.Requests()
    no_broker.clear()
    assert requests.refresh() == requests.refresh() != []
    assert len(no_broker) == 1
    requests.when = float("-inf")
    requests.refresh()
    assert len(no_broker) == 2


def test_what_cannot_be_started_is_refused_with_the_reason():
    starting.start(NAME)
    with pytest.raises(Refused, match="is in progress; cancel it"):
        starting.start(NAME)
    with pytest.raises(ModelError, match="replays the arrivals of a trace; select one"):
        starting.start("pd_ors_fig12_trace_by_servers")
    with pytest.raises(ModelError, match="seeds must be from 1 to 100, got 0"):
        starting.start("oasis_fig08_testbed_lateness", seeds=0)
    with pytest.raises(ModelError, match="takes no trace"):
        starting.start("oasis_fig08_testbed_lateness", trace=scenario_of("oasis", "fifo").trace)
    with pytest.raises(Refused, match="none of these"):
        starting.start_all([NAME, "pd_ors_fig12_trace_by_servers"])
    assert Reproduction.objects.count() == 1


def test_arrivals_of_an_imported_trace_are_replayed():
    scenario = scenario_of("oasis", "fifo")
    trace = scenario.trace
    of = starting.start("pd_ors_fig13_trace_by_jobs", seeds=1, trace=trace)
    assert of.parts.first().title == "20: PD-ORS"
    scenario.delete()
    trace.delete()
    of.refresh_from_db()
    with pytest.raises(Refused, match="was deleted"):
        task.options_of(of)


def test_only_the_newest_reproductions_are_kept(monkeypatch):
    monkeypatch.setattr(task, "MAX_KEPT", 1)
    old = starting.start(NAME, seeds=1)
    computed(old)
    computed(starting.start(NAME, seeds=1))
    assert Reproduction.objects.count() == 1
    assert not Reproduction.objects.filter(pk=old.pk).exists()
