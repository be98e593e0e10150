"""A data folder as the first start leaves it: others are copies of it.

It has a database with all migrations and the static files, and no secret key: each twin makes one of its own. Each
process of pytest makes one, but in bin/test: there the first that needs it makes it, in the folder TWIN_TEST_PREPARED.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from tests.twin.runtime.process import ran

PREPARE = """
from django.core.management import call_command
from twin.management.commands import up
call_command("migrate", verbosity=0)
up._collect_static()
"""


def shared() -> bool:
    """True if another process may have made the folder, or will use it."""
    return "TWIN_TEST_PREPARED" in os.environ


def fill(folder: Path) -> None:
    """Puts the database and the static files into the folder."""
    shutil.copytree(_made(), folder, dirs_exist_ok=True)


def copy_database(target: sqlite3.Connection) -> None:
    """The tables and rows of the prepared database, in an empty one."""
    source = sqlite3.connect(_made() / "twin.sqlite3")
    target.executescript("\n".join(source.iterdump()))
    source.close()


@cache
def _made() -> Path:
    if not shared():
        folder = Path(tempfile.mkdtemp(prefix="twin-prepared-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _prepare(folder)
        return folder
    folder = Path(os.environ["TWIN_TEST_PREPARED"])
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = Path(tempfile.mkdtemp(dir=folder.parent))
            _prepare(making)
            making.rename(folder)
    return folder


def _prepare(folder: Path) -> None:
    done = ran(folder, PREPARE)
    assert done.returncode == 0, done.stderr
    (folder / "secret_key").unlink(missing_ok=True)
