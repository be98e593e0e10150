"""Exclusive tasks: one worker at a time has the lease, renews it, and frees only its own."""

from __future__ import annotations

import socket
import subprocess
import time
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from twin.models import TaskLease
from twin.processes import bounded_process, exclusive

pytestmark = pytest.mark.django_db
ELSEWHERE = "elsewhere.example/1.1"


def left(key: int, owner: str, until_s: float = 20) -> None:
    """The lease of a worker that has it, or left it behind."""
    TaskLease.objects.create(task="task", key=key, owner=owner, until=timezone.now() + timedelta(seconds=until_s))


def dead() -> str:
    """An owner of this host that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return f"{socket.gethostname()}/{process.pid}.1"


def taken(key: int) -> bool:
    """True if this process can take the lease now."""
    with exclusive.held("task", key) as mine:
        return mine is not None


def to_another() -> None:
    """Another worker has taken all leases over."""
    TaskLease.objects.update(owner=ELSEWHERE)


def test_a_second_worker_gets_nothing_until_the_first_has_ended():
    with exclusive.held("task", 1) as first:
        assert first is not None
        with exclusive.held("task", 1) as second:
            assert second is None
        assert exclusive.in_progress("task") == {1}, "the second frees nothing"
        assert not taken(1)
        assert taken(2)
        assert exclusive.in_progress("another") == set()
    assert exclusive.in_progress("task") == set()
    assert taken(1)
    assert not TaskLease.objects.exists()


def test_work_that_raises_frees_its_lease():
    with pytest.raises(ZeroDivisionError), exclusive.held("task", 1):
        raise ZeroDivisionError
    assert not TaskLease.objects.exists()


def test_the_lease_of_a_dead_process_of_this_host_is_free_at_once():
    left(1, dead())
    left(2, dead())
    assert exclusive.in_progress("task") == set()
    assert taken(1)
    assert not TaskLease.objects.exists(), "the lease of a key that may never be due again is removed, too"


@pytest.mark.parametrize("until_s", [-1, 3_600], ids=["ran out", "from before the clock was set back"])
def test_the_lease_of_another_host_is_free_once_it_ran_out(until_s):
    left(1, ELSEWHERE)
    assert exclusive.in_progress("task") == {1}
    assert not taken(1)
    TaskLease.objects.update(until=timezone.now() + timedelta(seconds=until_s))
    assert exclusive.in_progress("task") == set()
    assert taken(1)


def test_a_lease_is_renewed_by_its_owner():
    with exclusive.held("task", 1) as mine:
        TaskLease.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert mine.renew()
        assert exclusive.in_progress("task") == {1}


def test_a_worker_that_lost_its_lease_frees_no_other_and_reports_no_failure(monkeypatch):
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: to_another() or "late")
    with exclusive.held("task", 1) as mine:
        assert mine.run(print, limit_s=30) == "unwanted"
        assert not mine.renew()
    assert exclusive.in_progress("task") == {1}
    assert not taken(1)


def test_a_failure_under_the_lease_is_reported(monkeypatch):
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: "late")
    with exclusive.held("task", 1) as mine:
        assert mine.run(print, limit_s=30) == "late"


@pytest.mark.django_db(transaction=True)
def test_work_ends_when_its_lease_is_lost(monkeypatch):
    monkeypatch.setattr(bounded_process, "CHECK_S", 0.01)
    asked = iter([True, True])
    with exclusive.held("task", 1) as mine:
        outcome = mine.run(lambda: time.sleep(600), limit_s=60, wanted=lambda: next(asked, None) or not to_another())
    assert outcome == "unwanted"
    assert exclusive.in_progress("task") == {1}


def test_a_lease_is_kept_until_it_expires_while_the_database_does_not_answer():
    with exclusive.held("task", 1) as mine:
        locked = Mock(side_effect=OperationalError("database is locked"))
        mine.row = Mock(update=locked, delete=locked)
        assert mine.renew()
        mine.until = time.monotonic() - 1
        assert not mine.renew()
