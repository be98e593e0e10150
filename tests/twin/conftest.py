"""Python processes in which a package cannot be imported, for all tests of this folder."""

import os
import subprocess
import sys

import pytest
from django.conf import settings


@pytest.fixture(params=["highspy"])
def without(request, tmp_path):
    """run(*arguments) of Python: its stdout, stderr and exit code, where a package cannot be imported."""
    name, hidden = request.param, tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n")

    def run(*arguments):
        path = os.pathsep.join([str(hidden), str(settings.BASE_DIR)])
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, cwd=settings.BASE_DIR, capture_output=True, text=True
        )
        return done.stdout, done.stderr, done.returncode

    return run
