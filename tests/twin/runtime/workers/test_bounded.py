"""Work in a process of its own: how it ends, and what it leaves."""

import os
import threading
import time

import psutil
import pytest
from django.db import InterfaceError, OperationalError

from twin.infra import counters, pubsub
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
    assert bounded_process.run(lambda: bytearray(2**31), limit_s=30, wanted=lambda: True) == "memory"
    assert bounded_process.why("memory", 30, "LIMIT_S") == "it needed more than 1 GiB of memory"
    assert bounded_process.why("late", 30, "LIMIT_S") == "it took longer than 30 s (LIMIT_S)"
    assert bounded_process.why("late", 0.5) == "it took longer than 0.5 s"


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
        shutdown._flag[0] = 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("still", [True, False], ids=["still wanted", "lost"])
def test_work_goes_on_while_the_database_does_not_say_whether_it_is_wanted(monkeypatch, caplog, tmp_path, still):
    """A lock can last longer than any lease: until the first answer nobody else can have taken it over."""
    monkeypatch.setattr(bounded_process, "CHECK_S", 0.01)
    over = tmp_path / "over"
    answers = iter([OperationalError("database is locked"), InterfaceError("closed")])

    def wanted():
        for answer in answers:
            raise answer
        if still:
            over.touch()
        return still

    def work():
        while not over.exists():
            time.sleep(0.01)

    outcome = bounded_process.run(work, limit_s=30, wanted=wanted)
    assert outcome == ("done" if still else "unwanted")
    said = [record.message for record in caplog.records]
    assert said[0] == "the database does not say whether the task is still wanted; it continues: database is locked"
    assert [message.partition(" did")[0] for message in said[1:]] == (
        [] if still else ["the task lost its lease while the database"]
    )


def test_work_ends_where_the_question_whether_it_is_wanted_raises():
    def wanted():
        raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer"):
        bounded_process.run(forever, limit_s=30, wanted=wanted)


def test_locks_that_another_thread_held_at_the_fork_do_not_stop_it(layer):
    """The thread of the heartbeat publishes and counts at any moment, also while the main thread forks."""
    pool_lock = pubsub.client().connection_pool._lock
    held, over = threading.Event(), threading.Event()

    def hold():
        with pool_lock:
            held.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        outcome = bounded_process.run(_published, limit_s=20, wanted=lambda: True)
    finally:
        over.set()
        thread.join()
    assert outcome == "done"
    assert pubsub.publish("twin:test", b"of the parent")


def _published():
    assert pubsub.publish("twin:test", b"of the child")
    counters.count("tasks", "test", "done")


def test_counters_are_not_locked_at_a_fork():
    """The fork waits until the other thread has counted."""
    held = threading.Event()

    def hold():
        with counters._lock:
            held.set()
            time.sleep(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    counted = bounded_process.run(lambda: counters.count("tasks", "test", "done"), limit_s=20, wanted=lambda: True)
    thread.join()
    assert counted == "done"
