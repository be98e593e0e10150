"""What a worker imports at its start: its tasks, and none of the pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
START = """
import sys
from twin.config.celery import app
app.loader.import_default_modules()
print("twin.tasks" in sys.modules, "dashboard.urls" in sys.modules)
"""


def test_a_worker_imports_no_page():
    """Pages would cost each worker 40 MB."""
    done = subprocess.run([sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True False"
