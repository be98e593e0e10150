"""A data folder as the first start leaves it, made once by each process of pytest: others are copies of it.

It has a database with all migrations and the static files, and no secret key: each twin makes one of its own.
"""

from __future__ import annotations

import atexit
import shutil
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


def fill(folder: Path) -> None:
    """Puts the database and the static files into the folder."""
    shutil.copytree(_made(), folder, dirs_exist_ok=True)


@cache
def _made() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="twin-prepared-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = ran(folder, PREPARE)
    assert done.returncode == 0, done.stderr
    (folder / "secret_key").unlink(missing_ok=True)
    return folder
