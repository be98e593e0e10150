"""Who may write a run."""

import os
import socket
import subprocess
import threading
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from twin.eventlog.event_log import LeaseLost
from twin.models import Run
from twin.runs import commands, lease


@pytest.fixture
def run(make_run):
    return make_run()


def test_the_second_taker_gets_nothing(run):
    assert lease.take(run.pk).epoch == 1
    assert lease.take(run.pk) is None


def test_a_lease_that_ran_out_is_taken_and_the_first_holder_may_no_longer_write(run):
    first = lease.take(run.pk)
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert lease.take(run.pk).epoch == 2
    with pytest.raises(LeaseLost, match="lease epoch 1 has ended"):
        lease.write(first, message="from the grave")
    lease.release(first)  # and it cannot give away what is not its own
    assert lease.take(run.pk) is None


def test_a_lease_from_before_the_clock_was_set_back_is_free(run):
    lease.take(run.pk)
    elsewhere = {"lease_owner": "elsewhere.example/1.1"}
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() + 1.5 * lease.LEASE, **elsewhere)
    assert lease.take(run.pk) is None, "clocks of hosts differ a little"
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() + timedelta(minutes=5), **elsewhere)
    assert lease.take(run.pk).epoch == 2


def test_the_lease_of_a_dead_process_of_this_host_is_free_at_once(run):
    dead = subprocess.Popen(["true"])
    dead.wait()
    lease.take(run.pk)
    Run.objects.filter(pk=run.pk).update(lease_owner=f"{socket.gethostname()}/{dead.pid}.1")
    assert lease.take(run.pk).epoch == 2


def test_nobody_judges_a_process_of_another_host():
    assert not lease.abandoned("elsewhere.example/999999.1")
    assert not lease.abandoned(f"{socket.gethostname()}/{os.getpid()}.1")
    assert not lease.abandoned("")


def test_an_ended_run_has_no_lease(run):
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    assert lease.take(run.pk) is None


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_holds_the_lease_during_a_long_decision(make_run, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_S", 0.01)
    run = lease.take(make_run().pk)
    Run.objects.filter(pk=run.pk).update(lease_until=None)
    with lease.Heartbeat(run):
        deadline = time.monotonic() + 20
        while Run.objects.get(pk=run.pk).lease_until is None and time.monotonic() < deadline:
            pass
    assert Run.objects.get(pk=run.pk).lease_until > timezone.now()


@pytest.mark.django_db(transaction=True)
def test_a_worker_in_the_middle_of_a_decision_lets_go_of_a_run_that_is_cancelled(make_run, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_S", 0.01)
    monkeypatch.setattr(lease, "LET_GO_S", 0.01)
    run = lease.take(make_run().pk)
    freed = threading.Event()
    with lease.Heartbeat(run, freed.set):
        commands.cancel(Run.objects.get(pk=run.pk))
        assert freed.wait(20)
    with pytest.raises(LeaseLost):
        lease.write(run, message="too late")
    assert Run.objects.get(pk=run.pk).status == Run.CANCELLED
