"""Tests of teams and of pushed events on PostgreSQL: they pass on a server that is here, as on SQLite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.services]
ROOT = Path(__file__).resolve().parents[3]
POSTGRES = "postgresql://postgres@127.0.0.1:5432"


@pytest.mark.parametrize("path", ["tests/dashboard/auth/test_teams.py", "tests/twin/push/test_storage.py"])
def test_these_tests_pass_on_postgresql(path):
    try:
        psycopg.connect(f"{POSTGRES}/postgres", connect_timeout=2).close()
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at 5432 of this machine: {error}")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env["DATABASE_URL"] = f"{POSTGRES}/twin_{os.getpid()}"  # the tests make their own, named test_twin_...
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        path,
    ]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert "skipped" not in done.stdout.splitlines()[-1]
