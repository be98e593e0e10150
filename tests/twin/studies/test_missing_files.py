"""The product without the files of its schedulers: it starts, and states why each cannot be used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NAMES = sorted(path.stem for path in (ROOT / "scheduling/algorithms").glob("*.py") if path.stem != "__init__")
PACKAGE = "scheduling.algorithms"
BROKEN = """
import sys

class Broken:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("scheduling.algorithms.") and (WHICH is None or name.rpartition(".")[2] in WHICH):
            raise RuntimeError(f"{name} is broken")

sys.meta_path.insert(0, Broken())
"""
LOADED = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.config.settings")
from django.core.management import call_command
import django
django.setup()
call_command("check")
import dashboard.urls, twin.config.asgi, twin.tasks, twin.ticker
"""


LISTED = """
import json
from scheduling.kernel import registry
print(json.dumps(dict(registry.unavailable())))
"""


def reasons(which: list[str] | None, before: str = "") -> dict[str, str]:
    """Unavailable schedulers, where these files (None: all) cannot be imported. before: code that runs first."""
    script = BROKEN.replace("WHICH", repr(which)) + before + LISTED
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={**os.environ}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.thorough
def test_everything_is_loaded_without_any_of_them():
    assert reasons(None, LOADED) == {
        name: f"scheduling/algorithms/{name}.py cannot be imported: RuntimeError: {PACKAGE}.{name} is broken"
        for name in NAMES
    }


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "extended"), [
    ("slurm", []), ("a_online", ["a_online_edge"]), ("harmony", ["oracle"]), ("oasis", ["replanning"]),
])  # fmt: skip
def test_one_broken_file_disables_itself_and_those_that_extend_it(name, extended):
    found = reasons([name])
    assert set(found) == {name, *extended}
    assert all(f"scheduling.algorithms.{name} is broken" in reason for reason in found.values())
