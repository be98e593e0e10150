"""Work in a process of its own: how it ends, and what it leaves."""

import os
import threading
import time

import psutil
import pytest
from django.db import InterfaceError, OperationalError

from twin.processes import bounded_process, shutdown


def forever():
    while True:
        time.sleep(60)


@pytest.fixture(autouse=True)
def nothing_left():
    """No process is left behind."""
    before = psutil.Process().children()
    yield
    assert psutil.Process().children() == before


def test_it_is_done_in_another_process(tmp_path):
    found = tmp_path / "pid"
    assert bounded_process.run(lambda: found.write_text(str(os.getpid())), limit_s=30, wanted=lambda: True) == "done"
    assert int(found.read_text()) != os.getpid()


def test_what_raises_or_is_killed_has_failed():
    assert bounded_process.run(lambda: 1 / 0, limit_s=30, wanted=lambda: True) == "failed"
    assert bounded_process.run(lambda: os.kill(os.getpid(), 9), limit_s=30, wanted=lambda: True) == "killed"


@pytest.mark.parametrize("error", [OperationalError("database or disk is full"), InterfaceError("connection closed")])
def test_what_the_database_did_not_answer_waits_and_has_not_failed(error):
    def asks():
        raise error

    outcome = bounded_process.run(asks, limit_s=30, wanted=lambda: True)
    assert outcome == "waits"
    assert outcome not in bounded_process.FAILURES


def test_its_memory_has_a_limit(monkeypatch):
    monkeypatch.setattr(bounded_process, "MAX_MEMORY", 2**30)
    assert bounded_process.run(lambda: bytearray(2**31), limit_s=30, wanted=lambda: True) == "failed"


def test_its_limit_does_not_wait_for_the_next_check(monkeypatch):
    monkeypatch.setattr(bounded_process, "CHECK_S", 20.0)
    began = time.monotonic()
    assert bounded_process.run(forever, limit_s=0.05, wanted=lambda: True) == "late"
    assert time.monotonic() - began < bounded_process.CHECK_S


def test_it_is_killed_at_its_limit_and_when_nobody_wants_it(monkeypatch):
    monkeypatch.setattr(bounded_process, "CHECK_S", 0.01)
    assert bounded_process.run(forever, limit_s=0.05, wanted=lambda: True) == "late"
    asked = iter([True, True, False])
    assert bounded_process.run(forever, limit_s=30, wanted=lambda: next(asked)) == "unwanted"
    threading.Timer(0.05, shutdown.ask).start()
    try:
        assert bounded_process.run(forever, limit_s=30, wanted=lambda: True) == "unwanted"
    finally:
        shutdown.withdraw()


def test_work_ends_where_the_question_whether_it_is_wanted_raises():
    def wanted():
        raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer"):
        bounded_process.run(forever, limit_s=30, wanted=wanted)
