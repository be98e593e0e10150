"""The performance table's frame (its figures are measured, not tested)."""

import importlib
import re
import sys

import orjson
import pytest
from django.core.management import call_command

import benchmarks


def test_every_row_has_a_title_and_can_run():
    assert {"event_log", "fifo", "memory", "oasis_decision", "up_again"} <= set(benchmarks.names())
    assert all(module.TITLE and callable(module.run) for module in map(benchmarks.row, benchmarks.names()))


def test_a_figure_is_held_against_its_target():
    fast = benchmarks.Figure("rate", 600_000, "rows/s", 500_000, at_least=True)
    slow = benchmarks.Figure("time", 6, "s", 5)
    assert (fast.holds, fast.target) == (True, ">= 500,000 rows/s")
    assert (slow.holds, slow.target) == (False, "<= 5 s")
    assert benchmarks.Figure("plain", 1, "s").holds is None


def test_an_unknown_row_is_answered_with_those_that_exist(capsys):
    with pytest.raises(SystemExit, match="2"):
        call_command("bench", only=["fifoo"])
    assert re.match(r"bench: unknown benchmark 'fifoo'; known: .*fifo", capsys.readouterr().err)


@pytest.fixture
def more(tmp_path, monkeypatch):
    """A folder with files of benchmarks, beside that of the product."""
    folder = tmp_path / "more"
    folder.mkdir()
    monkeypatch.setattr(benchmarks, "__path__", [*benchmarks.__path__, str(folder)])
    importlib.invalidate_caches()
    before = set(sys.modules)
    yield folder
    for name in [name for name in sys.modules if name.startswith("benchmarks.") and name not in before]:
        vars(benchmarks).pop(name.removeprefix("benchmarks."), None)
        del sys.modules[name]


GOOD = """
from benchmarks import Figure
TITLE = "a good row"
def run():
    return [Figure("speed", 2.0, "m/s")]
"""


def test_a_broken_file_disables_only_its_own_row(more, tmp_path, capsys):
    (more / "broken.py").write_text("raise RuntimeError('boom')\n")
    (more / "lacks_run.py").write_text("TITLE = 'no run'\n")
    (more / "lacks_a_file.py").write_text("import benchmarks._no_such_file\n")
    (more / "lacks_a_package.py").write_text("import no_such_package\n")
    (more / "good.py").write_text(GOOD)
    only = ["broken", "lacks_run", "lacks_a_file", "lacks_a_package", "good"]
    call_command("bench", only=only, json=tmp_path / "rows.json")
    broken, lacks_run, lacks_a_file, lacks_a_package, good = orjson.loads((tmp_path / "rows.json").read_bytes())["rows"]
    assert good["figures"][0]["value"] == 2.0
    assert broken["skipped"] == f"{more}/broken.py cannot be imported: RuntimeError: boom"
    assert lacks_run["skipped"] == f"{more}/lacks_run.py must define TITLE, run; it lacks run"
    assert lacks_a_file["skipped"].startswith(f"{more}/lacks_a_file.py cannot be imported: ModuleNotFoundError")
    assert lacks_a_package["skipped"].startswith("it needs the package no_such_package")
    assert "broken\n  skipped: " in capsys.readouterr().out


def test_two_files_of_one_name_are_not_run(more):
    (more / "fifo.py").write_text(GOOD)
    assert "fifo" in benchmarks.names()
    with pytest.raises(benchmarks.Skip, match=r"defined more than once: .*fifo\.py and .*fifo\.py"):
        benchmarks.row("fifo")
