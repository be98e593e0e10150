"""A disk that is full: reported in one sentence, and written by means of the reserve."""

import errno
import os

import pytest
from django.db import OperationalError

from twin.infra import disk
from twin.models import Run
from twin.runs import holds


@pytest.fixture
def room(settings, tmp_path, monkeypatch):
    """Sets how many bytes are left on the disk of VAR_DIR, which is a folder of the test."""
    settings.VAR_DIR = tmp_path
    true = os.statvfs(tmp_path)

    def left(size: int) -> None:
        fields = {"f_bavail": size, "f_frsize": 1, "f_files": 10, "f_favail": 10}
        monkeypatch.setattr(disk.os, "statvfs", lambda path: type("Disk", (), fields))

    monkeypatch.setattr(disk.os, "posix_fallocate", lambda fd, begin, size: os.truncate(fd, size))
    assert true.f_bavail > 0
    return left


def test_the_reserve_counts_as_room_until_it_is_given_up(room, tmp_path):
    room(3 * disk.RESERVE)
    assert disk.full() is None
    disk.keep_reserve()
    assert (tmp_path / "reserve").stat().st_size == disk.RESERVE
    room(disk.RESERVE)
    assert disk.full() is None
    room(disk.RESERVE - 1)
    assert disk.full() == f"the disk of {tmp_path} is full"
    disk.release()
    room(2 * disk.RESERVE - 1)
    assert disk.full() == f"the disk of {tmp_path} is full"
    disk.keep_reserve()
    assert not (tmp_path / "reserve").exists(), "it is made again only when there is room for more than it"
    room(3 * disk.RESERVE)
    disk.keep_reserve()
    assert (tmp_path / "reserve").exists()


def test_an_error_tells_of_a_full_disk(room, tmp_path):
    room(2**40)
    sentence = f"the disk of {tmp_path} is full"
    assert disk.behind(OperationalError("database or disk is full")) == sentence
    assert disk.behind(OSError(errno.ENOSPC, "No space left on device")) == sentence
    assert disk.behind(OperationalError("database is locked")) is None
    room(0)
    assert disk.behind(OperationalError("disk I/O error")) == sentence  # SQLite's other word for it


def test_a_full_disk_holds_the_run_up_with_that_reason(room, make_run, tmp_path, layer):
    room(2**40)
    disk.keep_reserve()
    run = make_run()
    holds.hold(run.pk, OperationalError("database or disk is full"))
    run.refresh_from_db()
    assert (run.status, run.wanted) == (Run.QUEUED, Run.RUNNING)
    assert run.message == (
        f"waiting: the disk of {tmp_path} is full (database or disk is full). No data are "
        "lost; the run resumes automatically."
    )
    assert not (tmp_path / "reserve").exists(), "the hold was written by means of it"
