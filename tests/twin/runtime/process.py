"""Python code in a process of its own, with the settings and the database of a data folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks._stack import environment

ROOT = Path(__file__).resolve().parents[3]


def ran(folder: Path, code: str, **env: str) -> subprocess.CompletedProcess[str]:
    """What became of it. `manage.py shell` would check the system first, which takes longer than the code."""
    return subprocess.run(
        [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"],
        env=environment(folder) | {"PYTHONPATH": str(ROOT)} | env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
